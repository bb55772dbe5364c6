import type { TrashCount, TrashRecord, TrashStore } from '@stowage/plugin-api';
import { anonymousOwner, utf8Length } from '@stowage/rules';
import { Counts } from '../../../limits/Counts.js';
import { createKeyedMutex } from '../../../limits/keyedMutex.js';
import type { TrashPurge } from '../purging/TrashPurge.js';
import { type TrashParts, trashBatch, warnOfTrash } from '../trashParts.js';
import { keptOfSide, sidesOf } from './trashSides.js';

/** What is kept at most, and how much new there may be before all is counted again. */
const trashLimits: { kept: TrashCount; uncounted: TrashCount } = {
	kept: keptOfSide,
	uncounted: { items: 1_000, pathBytes: 8 * 1024 * 1024 },
};

/** Items with long paths that are read together. */
const longAtOnce = 50;

/**
 * Each item in the trash is a row, which has its path several times, so a user has no more than so many, with so many bytes of paths: the
 * oldest go. For the bytes these are the oldest of those whose paths are longer than so many items may have on average, without which
 * there would not be as many: a few long paths end none of the others.
 *
 * What members of the user's folders put in is limited on its own (`MemberAllowance`), and ends nothing.
 */
export class TrashLimits {
	readonly #parts: TrashParts;
	readonly #purge: Pick<TrashPurge, 'endSuperfluous'>;
	readonly #limits: typeof trashLimits;
	/** How much of a kind each user has put in since it was last counted. */
	readonly #items = new Counts();
	readonly #pathBytes = new Counts();
	/** A mutex for each user and kind: two at once would both end what is too much. */
	readonly #inTurn = createKeyedMutex();

	constructor(parts: TrashParts, purge: Pick<TrashPurge, 'endSuperfluous'>, limits = trashLimits) {
		this.#parts = parts;
		this.#purge = purge;
		this.#limits = limits;
	}

	/** Called for each new item. Resolves to how many of the owner's own have gone. */
	added({ ownerId, kind, path }: Pick<TrashRecord, 'ownerId' | 'kind' | 'path'>): Promise<number> {
		const more = { items: 1, pathBytes: utf8Length(path) };
		return this.#grown(`${kind} ${ownerId}`, more, () => this.#limit(ownerId, kind, 'added'));
	}

	/** Called for versions whose paths have got longer, by so many bytes together. Resolves to how many have gone. */
	lengthened(ownerId: string, pathBytes: number): Promise<number> {
		const more = { items: 0, pathBytes };
		return this.#grown(`longer ${ownerId}`, more, () => this.#limit(ownerId, 'version', 'lengthened'));
	}

	/** The bytes of the longest path of which there may be as many as of items. */
	get #longestShort(): number {
		const { items, pathBytes } = this.#limits.kept;
		return Math.floor(pathBytes / items);
	}

	/** Calls `limit` where there is so much more by this key that it may be too much. Resolves to how many have gone. */
	async #grown(key: string, { items, pathBytes }: TrashCount, limit: () => Promise<number>): Promise<number> {
		this.#items.add(key, items);
		this.#pathBytes.add(key, pathBytes);
		const { uncounted } = this.#limits;
		if (this.#items.of(key) < uncounted.items && this.#pathBytes.of(key) < uncounted.pathBytes) return 0;
		for (const counts of [this.#items, this.#pathBytes]) counts.add(key, -counts.of(key));
		try {
			return await limit();
		} catch (error) {
			warnOfTrash(this.#parts, error);
			return 0;
		}
	}

	/**
	 * Ends the owner's own, but for as much as is kept. Where moves have made paths longer, it also ends what members have put in whose paths
	 * are too long by moves of the owner: members make them no longer than they may add, and nothing else that they do ends any of it.
	 */
	#limit(ownerId: string, kind: TrashRecord['kind'], by: 'added' | 'lengthened'): Promise<number> {
		return this.#inTurn(`${kind} ${ownerId}`, async () => {
			const { kept, uncounted } = this.#limits;
			const { own, ofMembers } = sidesOf(ownerId, await this.#parts.store.count(ownerId, kind));
			const deletedBy = ownerId === anonymousOwner ? undefined : 'owner';
			const over = { items: own.items - kept.items, pathBytes: own.pathBytes - kept.pathBytes };
			const ended = await this.#endOldest({ ownerId, kind, deletedBy }, over);
			if (by === 'added') return ended;
			const longer = { items: 0, pathBytes: ofMembers.pathBytes - kept.pathBytes - uncounted.pathBytes };
			return ended + (await this.#endOldest({ ownerId, kind, deletedBy: 'others' }, longer));
		});
	}

	async #endOldest(
		selection: Pick<Parameters<TrashStore['list']>[0], 'ownerId' | 'kind' | 'deletedBy'>,
		over: TrashCount,
	): Promise<number> {
		const { store } = this.#parts;
		let { items, pathBytes } = over;
		let ended = 0;
		const longOnes = { ...selection, pathBytesOver: this.#longestShort };
		for (let after: TrashRecord | undefined; pathBytes > 0; ) {
			// Not again past all that have been read.
			const long: TrashRecord[] = await store.list({ ...longOnes, order: 'oldest', limit: longAtOnce, after });
			after = long.at(-1);
			const lengths = long.map(({ path }) => utf8Length(path));
			const count = countUntil(lengths, pathBytes);
			if (count === 0) break;
			for (const length of lengths.slice(0, count)) pathBytes -= length;
			items -= count;
			ended += await this.#purge.endSuperfluous(long.slice(0, count));
		}
		for (; items > 0; items -= trashBatch)
			ended += await this.#purge.endSuperfluous(
				await store.list({ ...selection, order: 'oldest', limit: Math.min(items, trashBatch) }),
			);
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
