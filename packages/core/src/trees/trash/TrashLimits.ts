import type { OwnersTrashCount, TrashCount, TrashRecord, TrashStore } from '@stowage/plugin-api';
import { anonymousOwner, Failure, utf8Length } from '@stowage/rules';
import { Counts } from '../../limits/Counts.js';
import { createKeyedMutex } from '../../limits/keyedMutex.js';
import type { TrashPurge } from './purging/TrashPurge.js';
import { type TrashParts, trashBatch, warnOfTrash } from './trashParts.js';

/**
 * What is kept at most of one kind that a user has put in, and as much of what members of the user's folders have; and how much new there
 * may be before all is counted again.
 */
const trashLimits: { kept: TrashCount; uncounted: TrashCount } = {
	kept: { items: 100_000, pathBytes: 64 * 1024 * 1024 },
	uncounted: { items: 1_000, pathBytes: 8 * 1024 * 1024 },
};

/** Items with long paths that are read together. */
const longAtOnce = 50;

/** How long a count of what members have put in holds: other processes add to it. */
const countedMs = 30_000;

/** How long it holds for a refusal: what was in the way may be gone. */
const refusedMs = 2_000;

/** What was put in so recently may have no row yet. */
const unrecordedMs = 5_000;

/** Counts of so many users and kinds are kept. */
const maxTallies = 1_000;

/** What a user has of a kind, and what members of the user's folders have put in. */
interface Tally {
	countedAt: number;
	own: TrashCount;
	ofMembers: Map<string, TrashCount>;
	/** What members have added here since it was counted. */
	added: { at: number; member: string; more: TrashCount }[];
}

/** What is about to be put into the trash. */
export type NewInTrash = Pick<TrashRecord, 'ownerId' | 'ownerName' | 'deletedBy' | 'kind' | 'path'>;

const nothing: TrashCount = { items: 0, pathBytes: 0 };

/**
 * Each item in the trash is a row, which has its path several times, so a user has no more than so many, with so many bytes of paths: the
 * oldest go. For the bytes these are the oldest of those whose paths are longer than so many items may have on average, without which
 * there would not be as many: a few long paths end none of the others.
 *
 * What members of the user's folders put in is limited on its own, and ends nothing: it may be what the user wrote, and members delete
 * nothing for good. A member may add half of what the other members leave.
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
	readonly #tallies = new Map<string, Tally>();
	readonly #countInTurn = createKeyedMutex();

	constructor(parts: TrashParts, purge: Pick<TrashPurge, 'endSuperfluous'>, limits = trashLimits) {
		this.#parts = parts;
		this.#purge = purge;
		this.#limits = limits;
	}

	/** Called for each new item. Resolves to how many of the owner's own have gone. */
	added({ ownerId, kind, path }: Pick<TrashRecord, 'ownerId' | 'kind' | 'path'>): Promise<number> {
		const more = { items: 1, pathBytes: utf8Length(path) };
		return this.#grown(`${kind} ${ownerId}`, more, () => this.#limitOwn(ownerId, kind));
	}

	/** Called for versions whose paths have got longer, by so many bytes together. Resolves to how many have gone. */
	lengthened(ownerId: string, pathBytes: number): Promise<number> {
		const more = { items: 0, pathBytes };
		return this.#grown(`longer ${ownerId}`, more, async () => {
			const ended = await this.#limitOwn(ownerId, 'version');
			return ended + (await this.#limitLengthened(ownerId));
		});
	}

	/**
	 * Called before something is put into the trash. Throws `storageFull` where a member of a folder does so who has put in as much as they
	 * may, whether that has its rows yet or not. Unless `isOnlyAsked`, it counts from now on.
	 */
	async assertRoom(
		{ ownerId, ownerName, deletedBy, kind, path }: NewInTrash,
		{ isOnlyAsked = false }: { isOnlyAsked?: boolean } = {},
	): Promise<void> {
		// Visitors have no members.
		if (deletedBy === ownerName || ownerId === anonymousOwner) return;
		const more = { items: 1, pathBytes: utf8Length(path) };
		for (const ms of [countedMs, refusedMs]) {
			const tally = await this.#tally(ownerId, kind, ms);
			if (!this.#hasRoom(tally, deletedBy, more)) continue;
			if (!isOnlyAsked) this.#add(tally, deletedBy, more);
			return;
		}
		const what = kind === 'item' ? 'delete' : 'replace';
		throw new Failure('storageFull', `The owner of this folder has no room in the trash for more that you ${what}.`);
	}

	/**
	 * Called before a member of a folder makes the paths of its owner's versions longer, by so many bytes together, which counts from now
	 * on. Throws `storageFull` where these would leave the owner less than half of the bytes, or are more than the member may add.
	 */
	async assertRoomForVersionPaths(ownerId: string, member: string, pathBytes: number): Promise<void> {
		const tally = await this.#tally(ownerId, 'version', 0);
		const more = { items: 0, pathBytes };
		// Whose versions these are is not known: they may be of either side.
		if (tally.own.pathBytes + pathBytes <= this.#limits.kept.pathBytes / 2 && this.#hasRoom(tally, member, more)) {
			this.#add(tally, member, more);
			return;
		}
		throw new Failure('storageFull', 'The owner of this folder has no room for more long paths in the trash.');
	}

	#hasRoom({ ofMembers }: Tally, member: string, more: TrashCount): boolean {
		const mine = ofMembers.get(member) ?? nothing;
		const all = sum([...ofMembers.values()]);
		const { kept } = this.#limits;
		return (['items', 'pathBytes'] as const).every(
			(of) => more[of] === 0 || mine[of] + more[of] <= (kept[of] - (all[of] - mine[of])) / 2,
		);
	}

	#add(tally: Tally, member: string, more: TrashCount): void {
		tally.added.push({ at: this.#parts.monotonic(), member, more });
		countIn(tally, member, more);
	}

	/** Not older than this, as of when it was asked for. */
	#tally(ownerId: string, kind: TrashRecord['kind'], maxAgeMs: number): Promise<Tally> {
		const { store, monotonic } = this.#parts;
		const key = `${kind} ${ownerId}`;
		const asked = monotonic();
		return this.#countInTurn(key, async () => {
			const known = this.#tallies.get(key);
			if (known !== undefined && known.countedAt > asked - maxAgeMs) return known;
			const countedAt = monotonic();
			const count = await store.count(ownerId, kind);
			// Of what was added while it was counted, too.
			const added = (known?.added ?? []).filter(({ at }) => at > countedAt - unrecordedMs);
			const tally = { countedAt, own: sidesOf(ownerId, count).own, ofMembers: new Map(count.ofOthers), added };
			for (const { member, more } of added) countIn(tally, member, more);
			this.#tallies.delete(key);
			this.#tallies.set(key, tally);
			if (this.#tallies.size > maxTallies) this.#tallies.delete(this.#tallies.keys().next().value as string);
			return tally;
		});
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

	/** Ends the owner's own, but for as much as is kept. */
	#limitOwn(ownerId: string, kind: TrashRecord['kind']): Promise<number> {
		return this.#inTurn(`${kind} ${ownerId}`, async () => {
			const { kept } = this.#limits;
			const { own } = sidesOf(ownerId, await this.#parts.store.count(ownerId, kind));
			const deletedBy = ownerId === anonymousOwner ? undefined : 'owner';
			const over = { items: own.items - kept.items, pathBytes: own.pathBytes - kept.pathBytes };
			return this.#endOldest({ ownerId, kind, deletedBy }, over);
		});
	}

	/**
	 * Ends what members have put in where moves have made its paths too long: those of the owner, since members may make them no longer than
	 * they may add. Whatever else members do ends none of it.
	 */
	#limitLengthened(ownerId: string): Promise<number> {
		const kind = 'version';
		return this.#inTurn(`${kind} ${ownerId}`, async () => {
			const { kept, uncounted } = this.#limits;
			const { ofMembers } = sidesOf(ownerId, await this.#parts.store.count(ownerId, kind));
			const over = { items: 0, pathBytes: ofMembers.pathBytes - kept.pathBytes - uncounted.pathBytes };
			return this.#endOldest({ ownerId, kind, deletedBy: 'others' }, over);
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

/** Paths that have got longer may be those of either side. */
function countIn({ own, ofMembers }: Tally, member: string, more: TrashCount): void {
	ofMembers.set(member, sum([ofMembers.get(member) ?? nothing, more]));
	if (more.items === 0) own.pathBytes += more.pathBytes;
}

function sum(counts: readonly TrashCount[]): TrashCount {
	const all = { ...nothing };
	for (const { items, pathBytes } of counts) {
		all.items += items;
		all.pathBytes += pathBytes;
	}
	return all;
}

/** What the owner has put in, and what members of their folders have. */
function sidesOf(ownerId: string, { items, pathBytes, ofOthers }: OwnersTrashCount) {
	// Of what visitors had the administrator removes.
	const ofMembers = ownerId === anonymousOwner ? nothing : sum([...ofOthers.values()]);
	return { own: { items: items - ofMembers.items, pathBytes: pathBytes - ofMembers.pathBytes }, ofMembers };
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
