/** The most bytes of a description that are looked at. */
export const maxDescription = 4096;

/**
 * What iPhones write into tracks of their own at moments of each film, and nobody misses: how the phone was held, which the film says as a
 * whole as well, how bright it was, and where the camera saw faces. Other ones are positions, or parts of Live Photos.
 */
const spare =
	/^com\.apple\.quicktime\.(?:video-orientation|scene-illuminance|full-frame-rate-playback-intent|detected-face(?:\.[a-z-]+)?)$/;

/** Counts the tracks of an MP4 or MOV that have nothing else. */
export class MetadataTracks {
	#count = 0;
	#areSpare: boolean | undefined;

	/** How many there were. */
	get count(): number {
		return this.#count;
	}

	/** Is called before the boxes of each track, and behind them. */
	begin(): void {
		this.#areSpare = undefined;
	}
	end(): void {
		if (this.#areSpare === true) this.#count++;
	}

	/** Is called with each description of samples of the track. */
	take(name: string, bytes: Buffer): void {
		const keys = name === 'mebx' ? keysIn(bytes) : [];
		this.#areSpare = this.#areSpare !== false && keys.length > 0 && keys.every((key) => spare.test(key));
	}
}

/** The names of what such a track has, behind the place of its data; none where the list is not whole. */
function keysIn(bytes: Buffer): string[] {
	const keys: string[] = [];
	const list = boxesIn(bytes.subarray(8)).find(({ name }) => name === 'keys');
	for (const { content } of boxesIn(list?.content ?? Buffer.alloc(0))) {
		const key = boxesIn(content).find(({ name }) => name === 'keyd');
		keys.push(key?.content.toString('latin1', 4) ?? '');
	}
	return keys;
}

/** The boxes that follow each other; none where there is anything else. */
function boxesIn(bytes: Buffer): { name: string; content: Buffer }[] {
	const boxes: { name: string; content: Buffer }[] = [];
	for (let at = 0; at < bytes.length; ) {
		const length = at + 8 <= bytes.length ? bytes.readUInt32BE(at) : 0;
		if (length < 8 || at + length > bytes.length) return [];
		boxes.push({ name: bytes.toString('latin1', at + 4, at + 8), content: bytes.subarray(at + 8, at + length) });
		at += length;
	}
	return boxes;
}
