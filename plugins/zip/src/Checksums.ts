import { type ArchiveContents, isFailure, type KeyValueStore, z } from '@stowage/plugin-api';
import type { ChecksumCache } from './ChecksumCache.js';
import { smallBytes } from './records.js';

/** A CRC of the first `bytes` of a content. */
export interface Progress {
	crc: number;
	bytes: number;
}

/** A smaller file's CRC is kept in memory: reading it again costs less than a row. */
const isWorthRow = (size: number) => size > smallBytes;

/** A file modified this recently may be modified again without a change of its time. */
const minAgeMs = 5_000;

const isSettled = (mtime: number) => Date.now() - mtime >= minAgeMs;

const ttlMs = 30 * 24 * 60 * 60_000;

/** Rows read, or written, at once. */
const batchSize = 200;

const row = z.tuple([z.int().min(0).max(0xffffffff), z.int().min(0)]);

/** The CRCs of an archive's contents that have any: those computed for it, and those remembered from before. */
export class Checksums {
	readonly #crcs: Uint32Array;
	readonly #isKnown: Uint8Array;
	/** The CRCs of contents that have been read in part. */
	readonly #begun = new Map<number, Progress>();
	readonly #unsaved = new Map<string, readonly [number, number]>();
	/** The range of entries whose rows have been read. */
	#queried = { from: 0, to: 0 };

	constructor(
		readonly contents: ArchiveContents,
		readonly store: KeyValueStore,
		readonly cache: ChecksumCache,
	) {
		this.#crcs = new Uint32Array(contents.count);
		this.#isKnown = new Uint8Array(contents.count);
	}

	/** The checksum of an entry; undefined while it is not known, and for entries without content. */
	get(index: number): number | undefined {
		return this.#isKnown[index] === 1 ? this.#crcs[index] : undefined;
	}

	/** The known CRC of a content or its first part, from this archive or an earlier one. */
	async recall(index: number): Promise<Progress> {
		const { size } = this.contents.entry(index);
		if (this.get(index) === undefined) {
			if (isWorthRow(size)) await this.#query(index);
			else this.#readCache(index);
		}
		const crc = this.get(index);
		return crc === undefined ? (this.#begun.get(index) ?? { crc: 0, bytes: 0 }) : { crc, bytes: size };
	}

	/** Records the CRC of a content of `smallBytes` or less. */
	setSmall(index: number, crc: number): void {
		if (this.get(index) !== undefined) return;
		const { contentKey, size, mtime } = this.contents.entry(index);
		this.#record(index, { crc, bytes: size });
		if (isSettled(mtime)) this.cache.set(contentKey, crc);
	}

	/** Records the CRC of a first part. */
	async set(index: number, progress: Progress): Promise<void> {
		if (this.get(index) !== undefined) return;
		const entry = this.contents.entry(index);
		if (!isWorthRow(entry.size) && progress.bytes === entry.size) return this.setSmall(index, progress.crc);
		this.#record(index, progress);
		if (!isWorthRow(entry.size) || !isSettled(entry.mtime)) return;
		this.#unsaved.set(entry.contentKey, [progress.crc, progress.bytes]);
		if (this.#unsaved.size >= batchSize) await this.save();
	}

	/** Saves the new ones, if that is possible right now. */
	async save(): Promise<void> {
		if (this.#unsaved.size === 0) return;
		const rows = new Map(this.#unsaved);
		this.#unsaved.clear();
		await ifPossible(this.store.setMany(rows, ttlMs));
	}

	#record(index: number, progress: Progress): void {
		if (progress.bytes < this.contents.entry(index).size) {
			this.#begun.set(index, progress);
			return;
		}
		this.#begun.delete(index);
		this.#crcs[index] = progress.crc;
		this.#isKnown[index] = 1;
	}

	#readCache(index: number): void {
		const { size, contentKey } = this.contents.entry(index);
		const crc = this.cache.get(contentKey);
		if (crc !== undefined) this.#record(index, { crc, bytes: size });
	}

	/** Archives are read in order, so the rows of the next entries are queried along with this one. */
	async #query(index: number): Promise<void> {
		if (index >= this.#queried.from && index < this.#queried.to) return;
		const wanted = new Map<string, number>();
		let at = index;
		for (; at < this.contents.count && wanted.size < batchSize; at++) {
			const { size, contentKey } = this.contents.entry(at);
			if (isWorthRow(size) && this.get(at) === undefined) wanted.set(contentKey, at);
		}
		this.#queried = { from: index, to: at };
		for (const [key, value] of (await ifPossible(this.store.getMany([...wanted.keys()]))) ?? []) {
			const [crc, bytes] = row.parse(value);
			this.#record(wanted.get(key) as number, { crc, bytes });
		}
	}
}

/** Resolves to undefined while the database is full or unavailable: then contents are read again, and no download fails. */
async function ifPossible<T>(work: Promise<T>): Promise<T | undefined> {
	try {
		return await work;
	} catch (error) {
		if (!isFailure(error)) throw error;
		return undefined;
	}
}
