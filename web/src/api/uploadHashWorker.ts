import { sha256 } from '@noble/hashes/sha2.js';

/** Digests pieces of files beside the page, which stays fluid. The browser's own digest is missing on plain http. */
addEventListener('message', async ({ data }: MessageEvent<HashTask>) => {
	const { id, piece } = data;
	try {
		const digest = sha256(new Uint8Array(await piece.arrayBuffer()));
		postMessage({ id, digest: btoa(String.fromCharCode(...digest)) } satisfies HashResult);
	} catch (error) {
		postMessage({ id, reason: String(error) } satisfies HashResult);
	}
});

export interface HashTask {
	id: number;
	piece: Blob;
}

/** The digest in base64, or why the piece could not be read. */
export type HashResult = { id: number } & ({ digest: string } | { reason: string });
