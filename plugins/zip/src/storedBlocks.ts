// A deflate stream (RFC 1951) of stored blocks: the content as it is, with five bytes before each block.

const blockBytes = 65_535;
const blockHeaderBytes = 5;

export interface Block {
	header: Uint8Array;
	/** Where the header begins in the stream, and where the content that follows it begins and ends. */
	start: number;
	contentStart: number;
	contentEnd: number;
}

/** A packed size of 0xFFFFFFFF would mean 'larger' to some programs and itself to others, so one more block, an empty one, avoids it. */
function blockCount(size: number): number {
	const blocks = Math.ceil(size / blockBytes);
	return size + blocks * blockHeaderBytes === 0xffffffff ? blocks + 1 : blocks;
}

/** Bytes of the stream for a content of so many. */
export function deflatedSize(size: number): number {
	return size + blockCount(size) * blockHeaderBytes;
}

/** The blocks of a content of `size` bytes from the one on that holds `position` of the stream. */
export function* blocksFrom(size: number, position: number): Generator<Block> {
	const count = blockCount(size);
	for (let index = Math.floor(position / (blockBytes + blockHeaderBytes)); index < count; index++) {
		const contentStart = Math.min(size, index * blockBytes);
		const contentEnd = Math.min(size, contentStart + blockBytes);
		yield {
			header: blockHeader(contentEnd - contentStart, index === count - 1),
			start: index * (blockBytes + blockHeaderBytes),
			contentStart,
			contentEnd,
		};
	}
}

/** How much of the content lies in the first `position` bytes of the stream. */
export function contentBefore(size: number, position: number): number {
	const index = Math.floor(position / (blockBytes + blockHeaderBytes));
	const inBlock = position - index * (blockBytes + blockHeaderBytes);
	return Math.min(size, index * blockBytes + Math.max(0, inBlock - blockHeaderBytes));
}

function blockHeader(length: number, isLast: boolean): Uint8Array {
	const inverse = ~length & 0xffff;
	return Uint8Array.of(isLast ? 1 : 0, length & 0xff, length >> 8, inverse & 0xff, inverse >> 8);
}
