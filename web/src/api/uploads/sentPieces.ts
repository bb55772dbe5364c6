import type { HashBlob } from './hashInWorker.js';

/** A part of a file that is sent as one chunk, with its digest in base64. */
export interface Piece {
	size: number;
	digest: string;
}

/** The first bytes of a file as they were sent: by this it is known whether a file begins with them. */
export interface SentPieces {
	/** The sizes of the pieces in their order: each with how many of that size follow one another. */
	sizes: readonly (readonly [size: number, count: number])[];
	/** The digests of all pieces, each chained to those before it; empty for none. */
	digest: string;
}

export const nothingSent: SentPieces = { sizes: [], digest: '' };

export function sizeOf({ sizes }: Pick<SentPieces, 'sizes'>): number {
	return sizes.reduce((sum, [size, count]) => sum + size * count, 0);
}

/** These pieces with another one after them. */
export async function withPiece(sent: SentPieces, { size, digest }: Piece, hash: HashBlob): Promise<SentPieces> {
	const last = sent.sizes.at(-1);
	const sizes =
		last?.[0] === size ? sent.sizes.with(-1, [size, last[1] + 1] as const) : [...sent.sizes, [size, 1] as const];
	return { sizes, digest: await hash(new Blob([sent.digest, digest])) };
}

/** The sizes of the pieces before this offset, the last of them cut off there. */
export function sizesBefore(sizes: SentPieces['sizes'], end: number): SentPieces['sizes'] {
	const before: [number, number][] = [];
	let left = end;
	for (const [size, count] of sizes) {
		const whole = Math.min(count, Math.floor(left / size));
		if (whole > 0) before.push([size, whole]);
		left -= whole * size;
		if (whole === count) continue;
		if (left > 0) before.push([left, 1]);
		break;
	}
	return before;
}

interface Reading {
	hash: HashBlob;
	signal: AbortSignal;
	/** So many bytes were read. */
	onRead: (size: number) => void;
}

/** The pieces of these sizes that a file begins with. It is read for that, as far as they go. */
export async function readPieces(
	file: File,
	sizes: SentPieces['sizes'],
	{ hash, signal, onRead }: Reading,
): Promise<SentPieces> {
	let read = nothingSent;
	let end = 0;
	/** One piece is read ahead, while the one before it is hashed. */
	let before: { size: number; digest: Promise<string> } | undefined;
	const add = async ({ size, digest }: { size: number; digest: Promise<string> }) => {
		read = await withPiece(read, { size, digest: await digest }, hash);
		signal.throwIfAborted();
		onRead(sizeOf(read));
	};
	for (const [size, count] of sizes)
		for (let nth = 0; nth < count; nth++) {
			const digest = hash(file.slice(end, end + size));
			// It rejects for `add`, also where the piece before it was the one that could not be read.
			digest.catch(() => undefined);
			end += size;
			if (before !== undefined) await add(before);
			before = { size, digest };
		}
	if (before !== undefined) await add(before);
	return read;
}
