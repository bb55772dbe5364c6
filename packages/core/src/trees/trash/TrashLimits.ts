import type { TrashCount, TrashRecord } from '@stowage/plugin-api';
import { Failure, utf8Length } from '@stowage/rules';
import { Counts } from '../../limits/Counts.js';
import { createKeyedMutex } from '../../limits/keyedMutex.js';
import type { TrashPurge } from './TrashPurge.js';
import { type TrashParts, trashBatch, warnOfTrash } from './trashParts.js';

/** What is kept of one user and kind at most, and how much new there may be before all is counted again. */
const trashLimits: { kept: TrashCount; uncounted: TrashCount } = {
	kept: { items: 100_000, pathBytes: 64 * 1024 * 1024 },
	uncounted: { items: 1_000, pathBytes: 8 * 1024 * 1024 },
};

/** Items with long paths that are read together. */
const longAtOnce = 50;

/**
 * Each item in the trash is a row, which has its path several times, so a user has no more than so many, with so many bytes of paths: the
 * oldest go. For the bytes these are the oldest of those whose paths are longer than so many items may have on average, without which
 * there would not be as many: a few long paths end none of the others.
 */
export class TrashLimits {
	readonly #parts: TrashParts;
	readonly #purge: Pick<TrashPurge, 'end' | 'removePurged'>;
	readonly #limits: typeof trashLimits;
	/** How much of a kind each user has put in since it was last counted. */
	readonly #items = new Counts();
	readonly #pathBytes = new Counts();
	/** A mutex for each user and kind: two at once would both end what is too much. */
	readonly #inTurn = createKeyedMutex();

	constructor(parts: TrashParts, purge: Pick<TrashPurge, 'end' | 'removePurged'>, limits = trashLimits) {
		this.#parts = parts;
		this.#purge = purge;
		this.#limits = limits;
	}

	/** Called for each new item. Resolves to how many have gone. */
	added({ ownerId, kind, path }: Pick<TrashRecord, 'ownerId' | 'kind' | 'path'>): Promise<number> {
		return this.#grown(ownerId, kind, { items: 1, pathBytes: utf8Length(path) });
	}

	/** Called for versions whose paths have got longer, by so many bytes together. Resolves to how many have gone. */
	lengthened(ownerId: string, pathBytes: number): Promise<number> {
		return this.#grown(ownerId, 'version', { items: 0, pathBytes });
	}

	/**
	 * Called before something is put into the trash. Throws `storageFull` where a member of a folder does so, and something of its owner
	 * would have to go for that path: members delete nothing for good.
	 */
	async assertRoom({
		ownerId,
		ownerName,
		deletedBy,
		kind,
		path,
	}: Pick<TrashRecord, 'ownerId' | 'ownerName' | 'deletedBy' | 'kind' | 'path'>): Promise<void> {
		const bytes = utf8Length(path);
		if (deletedBy !== ownerName && bytes > this.#longestShort) await this.assertRoomForPaths(ownerId, kind, bytes);
	}

	/** As `assertRoom`, for so many bytes of paths. */
	async assertRoomForPaths(ownerId: string, kind: TrashRecord['kind'], bytes: number): Promise<void> {
		const { pathBytes } = await this.#parts.store.count(ownerId, kind);
		if (pathBytes + bytes <= this.#limits.kept.pathBytes) return;
		throw new Failure('storageFull', 'The owner of this folder has no room for more long paths in the trash.');
	}

	/** The bytes of the longest path of which there may be as many as of items. */
	get #longestShort(): number {
		const { items, pathBytes } = this.#limits.kept;
		return Math.floor(pathBytes / items);
	}

	async #grown(ownerId: string, kind: TrashRecord['kind'], { items, pathBytes }: TrashCount): Promise<number> {
		const key = `${kind} ${ownerId}`;
		this.#items.add(key, items);
		this.#pathBytes.add(key, pathBytes);
		const { uncounted } = this.#limits;
		if (this.#items.of(key) < uncounted.items && this.#pathBytes.of(key) < uncounted.pathBytes) return 0;
		for (const counts of [this.#items, this.#pathBytes]) counts.add(key, -counts.of(key));
		try {
			return await this.#inTurn(key, () => this.#limit(ownerId, kind));
		} catch (error) {
			warnOfTrash(this.#parts, error);
			return 0;
		}
	}

	async #limit(ownerId: string, kind: TrashRecord['kind']): Promise<number> {
		const { store } = this.#parts;
		const { kept } = this.#limits;
		const there = await store.count(ownerId, kind);
		let items = there.items - kept.items;
		let pathBytes = there.pathBytes - kept.pathBytes;
		let ended = 0;
		const longOnes = { ownerId, kind, pathBytesOver: this.#longestShort };
		for (let after: TrashRecord | undefined; pathBytes > 0; ) {
			// Not again past all that have been read.
			const long: TrashRecord[] = await store.list({ ...longOnes, order: 'oldest', limit: longAtOnce, after });
			after = long.at(-1);
			const lengths = long.map(({ path }) => utf8Length(path));
			const count = countUntil(lengths, pathBytes);
			if (count === 0) break;
			for (const length of lengths.slice(0, count)) pathBytes -= length;
			items -= count;
			ended += await this.#end(long.slice(0, count));
		}
		for (; items > 0; items -= trashBatch)
			ended += await this.#end(
				await store.list({ order: 'oldest', limit: Math.min(items, trashBatch), ownerId, kind }),
			);
		return ended;
	}

	async #end(records: readonly TrashRecord[]): Promise<number> {
		const ended = await this.#purge.end(records, 'number');
		if (ended > 0) void this.#purge.removePurged();
		return ended;
	}
}

/** How many of these lengths, from the first one, make so much together; all if they make less. */
function countUntil(lengths: readonly number[], sum: number): number {
	let [count, left] = [0, sum];
	for (const length of lengths) {
		if (left <= 0) break;
		left -= length;
		count++;
	}
	return count;
}
