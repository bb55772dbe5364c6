import { sha256 } from '@noble/hashes/sha2.js';

/** Digests pieces of files beside the page, which stays fluid. */
addEventListener('message', async ({ data }: MessageEvent<HashTask>) => {
	const { id, piece } = data;
	try {
		const digest = await digestOf(await piece.arrayBuffer());
		postMessage({ id, digest: btoa(String.fromCharCode(...digest)) } satisfies HashResult);
	} catch (error) {
		postMessage({ id, reason: String(error) } satisfies HashResult);
	}
});

/** The browser's own digest is several times as fast, and missing on plain http. */
async function digestOf(bytes: ArrayBuffer): Promise<Uint8Array> {
	return isSecureContext ? new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)) : sha256(new Uint8Array(bytes));
}

export interface HashTask {
	id: number;
	piece: Blob;
}

/** The digest in base64, or why the piece could not be read. */
export type HashResult = { id: number } & ({ digest: string } | { reason: string });
