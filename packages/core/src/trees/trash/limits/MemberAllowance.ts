import type { TrashCount, TrashRecord } from '@stowage/plugin-api';
import { anonymousOwner, Failure, utf8Length } from '@stowage/rules';
import { createKeyedMutex } from '../../../limits/keyedMutex.js';
import type { TrashParts } from '../trashParts.js';
import { keptOfSide, nothing, sidesOf, sum } from './trashSides.js';

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

/**
 * What members of a user's folders may put into the trash of that user. It ends nothing: it may be what the user wrote, and members delete
 * nothing for good. So a member may add half of what the other members leave, and is refused beyond that.
 */
export class MemberAllowance {
	readonly #parts: Pick<TrashParts, 'store' | 'monotonic'>;
	readonly #kept: TrashCount;
	readonly #tallies = new Map<string, Tally>();
	readonly #countInTurn = createKeyedMutex();

	constructor(parts: Pick<TrashParts, 'store' | 'monotonic'>, kept = keptOfSide) {
		this.#parts = parts;
		this.#kept = kept;
	}

	/**
	 * Called before something is put into the trash. Throws `storageFull` where a member of a folder does so who has put in as much as they
	 * may, whether that has its rows yet or not; `by` is how they do so. Unless `isOnlyAsked`, it counts from now on.
	 */
	async assertRoom(
		{ ownerId, ownerName, deletedBy, kind, path }: NewInTrash,
		{ isOnlyAsked = false, by = 'delete' }: { isOnlyAsked?: boolean; by?: 'delete' | 'replace' } = {},
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
		throw new Failure('storageFull', `The owner of this folder has no room in the trash for more that you ${by}.`);
	}

	/**
	 * Called before a member of a folder makes the paths of its owner's versions longer, by so many bytes together, which counts from now
	 * on. Throws `storageFull` where these would leave the owner less than half of the bytes, or are more than the member may add.
	 */
	async assertRoomForVersionPaths(ownerId: string, member: string, pathBytes: number): Promise<void> {
		const tally = await this.#tally(ownerId, 'version', 0);
		const more = { items: 0, pathBytes };
		// Whose versions these are is not known: they may be of either side.
		if (tally.own.pathBytes + pathBytes <= this.#kept.pathBytes / 2 && this.#hasRoom(tally, member, more)) {
			this.#add(tally, member, more);
			return;
		}
		throw new Failure('storageFull', 'The owner of this folder has no room for more long paths in the trash.');
	}

	#hasRoom({ ofMembers }: Tally, member: string, more: TrashCount): boolean {
		const mine = ofMembers.get(member) ?? nothing;
		const all = sum([...ofMembers.values()]);
		return (['items', 'pathBytes'] as const).every(
			(of) => more[of] === 0 || mine[of] + more[of] <= (this.#kept[of] - (all[of] - mine[of])) / 2,
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
}

/** Paths that have got longer may be those of either side. */
function countIn({ own, ofMembers }: Tally, member: string, more: TrashCount): void {
	ofMembers.set(member, sum([ofMembers.get(member) ?? nothing, more]));
	if (more.items === 0) own.pathBytes += more.pathBytes;
}
