import { hash } from 'node:crypto';

/** The most cached CRCs: some 10 MB. */
const capacity = 512 * 1024;

/** Slots of a set that one content may be in. */
const ways = 8;

/** 128 bits that identify a content, and the CRC. */
const wordsPerPlace = 5;

/** The CRCs of contents that were read lately, of whatever archive. */
export class ChecksumCache {
	#places: Uint32Array | undefined;
	#nextWay = 0;

	get(contentKey: string): number | undefined {
		if (this.#places === undefined) return undefined;
		const at = find(this.#places, hash('sha256', contentKey, 'buffer'));
		return at === undefined ? undefined : this.#places[at + 4];
	}

	/** Remembers a CRC; in a full set it replaces another content's. */
	set(contentKey: string, crc: number): void {
		this.#places ??= new Uint32Array(capacity * wordsPerPlace);
		const places = this.#places;
		// Hashed, since a key may be any text.
		const key = hash('sha256', contentKey, 'buffer');
		let at = find(places, key);
		if (at === undefined) {
			this.#nextWay = (this.#nextWay + 1) % ways;
			at = find(places, emptyKey, firstPlace(key)) ?? firstPlace(key) + this.#nextWay * wordsPerPlace;
			for (let word = 0; word < 4; word++) places[at + word] = key.readUInt32LE(word * 4);
		}
		places[at + 4] = crc;
	}
}

const emptyKey = Buffer.alloc(16);

const firstPlace = (key: Buffer) => (key.readUInt32LE(0) % (capacity / ways)) * ways * wordsPerPlace;

function find(places: Uint32Array, key: Buffer, first = firstPlace(key)): number | undefined {
	for (let way = 0; way < ways; way++) {
		const at = first + way * wordsPerPlace;
		let word = 0;
		while (word < 4 && places[at + word] === key.readUInt32LE(word * 4)) word++;
		if (word === 4) return at;
	}
	return undefined;
}
