import { Yielder } from '@stowage/plugin-api';
import TinyQueue from 'tinyqueue';

/** Where members replace each other's contents, a file may have this many times as many versions before these give way as well. */
export const alternatingFactor = 4;

/** What decides which version goes: when it was replaced, and which member is known to have written it. */
interface Dated {
	deletedAt: number;
	writtenBy?: string;
}

interface Thinning {
	/** The id of the member who has replaced the file, if that is not its owner. */
	member?: string | undefined;
	/** How many stay where contents would have to go of which no member is known to have written them. @default `limit` */
	least?: number;
}

/**
 * The versions to remove so that `limit` are left: each time the one that is closest to its neighbours, never the first or the last. A
 * replacement by `member` removes only contents that are known to be this member's, so others' may exceed the limit. Where members take
 * turns, their contents remove each other's from four times the limit on. Beyond the limit what members have written goes before anything
 * else, but for the newest of each: it may have been replaced by mistake. Gives others their turn.
 */
export async function superfluous<T extends Dated>(
	versions: readonly T[],
	limit: number,
	{ member, least = limit }: Thinning = {},
): Promise<T[]> {
	const thinned = new ThinnedVersions(versions);
	const isOfMembers = ({ writtenBy }: T) => writtenBy !== undefined;
	if (member === undefined) {
		const newest = newestOfEach(versions);
		await thinned.thin(limit, (version) => isOfMembers(version) && !newest.has(version));
		await thinned.thin(limit + 1, isOfMembers);
		await thinned.thin(Math.max(limit, least), () => true);
	} else {
		await thinned.thin(limit, ({ writtenBy }) => writtenBy === member);
		await thinned.thin(limit * alternatingFactor, isOfMembers);
	}
	return thinned.removed;
}

/** Of each member the version that was replaced last. */
function newestOfEach<T extends Dated>(versions: readonly T[]): ReadonlySet<T> {
	const newest = new Map<string | undefined, T>();
	for (const version of versions) {
		const before = newest.get(version.writtenBy);
		if (before === undefined || before.deletedAt <= version.deletedAt) newest.set(version.writtenBy, version);
	}
	return new Set(newest.values());
}

/** A version that is not the first or the last, and the time between its neighbours when it was put into the queue. */
interface Candidate {
	at: number;
	gap: number;
}

/** Versions in the order of time, of which some are removed. */
class ThinnedVersions<T extends Dated> {
	readonly removed: T[] = [];
	readonly #versions: readonly T[];
	/** The neighbours of each that are left. */
	readonly #before: number[];
	readonly #after: number[];
	readonly #isRemoved = new Set<number>();
	readonly #yielder = new Yielder();

	constructor(versions: readonly T[]) {
		this.#versions = [...versions].sort((one, other) => one.deletedAt - other.deletedAt);
		this.#before = this.#versions.map((_, at) => at - 1);
		this.#after = this.#versions.map((_, at) => at + 1);
	}

	async thin(count: number, mayGo: (version: T) => boolean): Promise<void> {
		if (this.#versions.length - this.removed.length <= count) return;
		const closest = new TinyQueue<Candidate>([], compareGaps);
		const add = (at: number) => {
			const gap = this.#gapAt(at);
			if (gap !== undefined && mayGo(this.#versions[at] as T)) closest.push({ at, gap });
		};
		for (const at of this.#versions.keys()) add(at);
		while (this.#versions.length - this.removed.length > count) {
			const candidate = closest.pop();
			if (candidate === undefined) return;
			if (this.#yielder.shouldYield) await this.#yielder.yield();
			// A neighbour of it has gone since: then it is there a second time.
			if (this.#gapAt(candidate.at) !== candidate.gap) continue;
			for (const neighbour of this.#remove(candidate.at)) add(neighbour);
		}
	}

	/** Resolves to the neighbours, which have each other now. */
	#remove(at: number): [number, number] {
		const [before, after] = [this.#before[at] as number, this.#after[at] as number];
		this.#isRemoved.add(at);
		this.removed.push(this.#versions[at] as T);
		this.#after[before] = after;
		this.#before[after] = before;
		return [before, after];
	}

	/** The time between the neighbours; undefined for the first and the last, and for what is removed. */
	#gapAt(at: number): number | undefined {
		const before = this.#versions[this.#before[at] as number];
		const after = this.#versions[this.#after[at] as number];
		if (before === undefined || after === undefined || this.#isRemoved.has(at)) return undefined;
		return after.deletedAt - before.deletedAt;
	}
}

function compareGaps(one: Candidate, other: Candidate): number {
	return one.gap - other.gap || one.at - other.at;
}
