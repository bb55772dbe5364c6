// A deflate stream (RFC 1951) of stored blocks: the content as it is, with five bytes before each block.

const blockBytes = 65_535;
const blockHeaderBytes = 5;

export interface Block {
	header: Uint8Array;
	/** Offsets in the stream: of the header, and of the begin and the end of the content behind it. */
	start: number;
	contentStart: number;
	contentEnd: number;
}

/** A packed size of 0xFFFFFFFF would mean 'larger' to some programs and itself to others, so one more block, an empty one, avoids it. */
function blockCount(size: number): number {
	const blocks = Math.ceil(size / blockBytes);
	return size + blocks * blockHeaderBytes === 0xffffffff ? blocks + 1 : blocks;
}

/** Bytes of the stream for a content of this many bytes. */
export function deflatedSize(size: number): number {
	return size + blockCount(size) * blockHeaderBytes;
}

/** Iterates over the blocks of a content, from the one that contains a position of the stream. */
export class Blocks {
	readonly #count: number;
	#index: number;

	constructor(
		readonly size: number,
		position = 0,
	) {
		this.#count = blockCount(size);
		this.#index = Math.floor(position / (blockBytes + blockHeaderBytes));
		this.next = this.#block();
	}

	/** Undefined behind the last one. */
	next: Block | undefined;

	advance(): void {
		this.#index++;
		this.next = this.#block();
	}

	#block(): Block | undefined {
		const index = this.#index;
		if (index >= this.#count) return undefined;
		const contentStart = Math.min(this.size, index * blockBytes);
		const contentEnd = Math.min(this.size, contentStart + blockBytes);
		return {
			header: blockHeader(contentEnd - contentStart, index === this.#count - 1),
			start: index * (blockBytes + blockHeaderBytes),
			contentStart,
			contentEnd,
		};
	}
}

/** The number of content bytes in the first `position` bytes of the stream. */
export function contentBefore(size: number, position: number): number {
	const index = Math.floor(position / (blockBytes + blockHeaderBytes));
	const inBlock = position - index * (blockBytes + blockHeaderBytes);
	return Math.min(size, index * blockBytes + Math.max(0, inBlock - blockHeaderBytes));
}

/** The size of whole blocks with about this many bytes of content. */
export function framedBytes(contentBytes: number): number {
	return Math.max(1, Math.floor(contentBytes / blockBytes)) * (blockBytes + blockHeaderBytes);
}

function blockHeader(length: number, isLast: boolean): Uint8Array {
	const inverse = ~length & 0xffff;
	return Uint8Array.of(isLast ? 1 : 0, length & 0xff, length >> 8, inverse & 0xff, inverse >> 8);
}
