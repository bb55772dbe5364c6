import { sha256 } from '@noble/hashes/sha2.js';

/** Hashes outside of the main thread, which stays responsive. */
addEventListener('message', async ({ data }: MessageEvent<HashTask>) => {
	const { id, blob } = data;
	try {
		const digest = await digestOf(await blob.arrayBuffer());
		postMessage({ id, digest: btoa(String.fromCharCode(...digest)) } satisfies HashResult);
	} catch (error) {
		postMessage({ id, reason: String(error) } satisfies HashResult);
	}
});

/** The browser's own digest is several times as fast but does not exist on plain http. */
async function digestOf(bytes: ArrayBuffer): Promise<Uint8Array> {
	return isSecureContext ? new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)) : sha256(new Uint8Array(bytes));
}

export interface HashTask {
	id: number;
	blob: Blob;
}

/** The digest in base64, or why the blob could not be read. */
export type HashResult = { id: number } & ({ digest: string } | { reason: string });
