import { TOTP, URI } from 'otpauth';
import type { Locator } from 'playwright-core';
import { decodeQR } from 'qr/decode.js';

/** An authenticator app with one secret, as the server accepts its codes: each once, and one time step early or late. */
export class Authenticator {
	readonly #totp: TOTP;
	#lastStep = 0;

	constructor(uri: string) {
		const scanned = URI.parse(uri);
		if (!(scanned instanceof TOTP)) throw new Error(`This is not for time-based codes: ${uri}`);
		this.#totp = scanned;
	}

	/** Without spaces. */
	get secret(): string {
		return this.#totp.secret.base32;
	}

	/** Whether it is for this user's sign-in. */
	isFor(username: string): boolean {
		return this.#totp.issuer === 'Stowage' && this.#totp.label === username;
	}

	/** A code that was not used yet. The second one within 30 seconds is early; a third one would be too early. */
	nextCode(): string {
		this.#lastStep = Math.max(this.#lastStep + 1, this.#totp.counter());
		return this.#codeOf(this.#lastStep);
	}

	/** Six digits that are not valid for some minutes. */
	wrongCode(): string {
		const step = this.#totp.counter();
		const near = new Set(Array.from({ length: 20 }, (_, n) => this.#codeOf(step - 5 + n)));
		for (let n = 0; ; n++) {
			const code = String(n).padStart(6, '0');
			if (!near.has(code)) return code;
		}
	}

	#codeOf(step: number): string {
		return this.#totp.generate({ timestamp: step * this.#totp.period * 1000 });
	}
}

/** The text of a QR code as it is drawn on screen. */
export async function scan(code: Locator): Promise<string> {
	const picture = (await code.screenshot()).toString('base64');
	// A page without a content security policy, which would forbid to load the picture.
	const page = await code.page().context().newPage();
	try {
		const { width, height, pixels } = await page.evaluate(async (base64) => {
			const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
			const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
			const { width, height } = bitmap;
			const canvas = new OffscreenCanvas(width, height).getContext('2d');
			canvas?.drawImage(bitmap, 0, 0);
			return { width, height, pixels: Array.from(canvas?.getImageData(0, 0, width, height).data ?? []) };
		}, picture);
		return decodeQR({ width, height, data: Uint8Array.from(pixels) });
	} finally {
		await page.close();
	}
}
