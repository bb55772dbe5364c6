import { setTimeout as wait } from 'node:timers/promises';
import { Failure, formatListSize, plural, type Viewer } from '@stowage/rules';
import type { ByteMeter } from '../trees/space/metered.js';
import type { HomeUsage } from './HomeUsage.js';
import type { Amount } from './measureTree.js';

/** A reservation in a home's quota for data that is arriving. */
export interface Reservation {
	/** Throws `storageFull` unless this many more bytes and entries fit, or will once the trash gives way to them as they arrive. */
	assertRoom(amount: Amount): Promise<void>;
	/** Takes this much, to which the trash gives way. Throws `storageFull` unless it fits. */
	add(amount: Amount): Promise<void>;
	/** Takes over the bytes of this staged file, so that they need not be reserved again when it is published. */
	include(stagedId: string): void;
	/** Notes that so many of the bytes were recorded as those of an unfinished upload. */
	recorded(bytes: number): void;
	/** Counts what was reserved and is published in the home now. */
	published(amount: Amount): Promise<void>;
	/**
	 * Releases the reservation, once the data is counted in the home, or is dropped. What an unfinished upload has and
	 * was not published continues to count: that of a reservation that began with one, and of one that is `begun` with
	 * it. So do the bytes of one that is `complete` and published next.
	 */
	release(outcome?: 'begun' | 'complete'): void;
}

/** The staged file of an unfinished upload, with the bytes that it contains. */
export interface UnfinishedFile {
	stagedId: string;
	bytes: number;
}

/** Takes the bytes of an upload as they arrive. */
export function meterOf(reservation: Reservation): ByteMeter {
	return {
		arrived: (bytes) => reservation.add({ bytes, entries: 0 }),
		ended: () => {},
	};
}

/** The reservation in a home without a quota, where nothing is counted. */
export const unlimited: Reservation = {
	assertRoom: async () => {},
	add: async () => {},
	include: () => {},
	recorded: () => {},
	published: async () => {},
	release: () => {},
};

/** Processes that keep room from each other try again after pauses that grow from this. */
const retryMs = 25;
const maxTries = 6;

interface Limited {
	viewer: Viewer;
	limit: Amount;
	usage: HomeUsage;
	/** The reservations of staged files in this home, by the ids of the files. */
	reservedFiles: Map<string, Reservation>;
	/** Whether what is in the trash could make so much room. */
	canGiveWay(lack: Amount): Promise<boolean>;
	/** Makes room by what is in the trash until nothing is lacking, if that is enough; resolves to whether it is. */
	giveWay(lackNow: () => Promise<Amount>): Promise<boolean>;
}

/** A reservation in a home with a quota. */
export class LimitedReservation implements Reservation {
	readonly #home: Limited;
	/** All that is reserved, and of that what has arrived by this reservation. */
	#own: Amount;
	readonly #arrived: Amount = { bytes: 0, entries: 0 };
	/** What has been recorded since it began, so that it counts already. */
	#recorded: number | undefined;
	readonly #stagedIds: string[] = [];
	readonly #isUnfinished: boolean;
	#isReleased = false;

	constructor(home: Limited, unfinished: UnfinishedFile | undefined) {
		this.#home = home;
		this.#own = { bytes: 0, entries: 0 };
		this.#isUnfinished = unfinished !== undefined;
		if (unfinished === undefined) return;
		const { stagedId, bytes } = unfinished;
		this.#own = { ...home.usage.reserved.continueUpload(stagedId, bytes) };
		this.#recorded = bytes;
		this.include(stagedId);
	}

	async assertRoom(amount: Amount): Promise<void> {
		await this.#home.usage.refresh();
		if (this.#fits(amount) || (await this.#fitsAtLast(amount))) return;
		if (!(await this.#home.canGiveWay(this.#excess(amount)))) this.#assertRoom(amount);
	}

	async add(amount: Amount): Promise<void> {
		if (await this.#take(amount)) return;
		await this.#home.usage.correct(() => this.#excess(amount));
		if (await this.#takeAmongOthers(amount)) return;
		await this.#home.giveWay(async () => {
			await this.#home.usage.refresh();
			return this.#excess(amount);
		});
		if (!(await this.#take(amount))) this.#refuse(amount);
	}

	/**
	 * Takes an amount, with retries: of several processes that take the last room, each may see the other's claim and
	 * give its own back.
	 */
	async #takeAmongOthers(amount: Amount): Promise<boolean> {
		const { usage } = this.#home;
		for (let tries = 0; tries < maxTries; tries++) {
			if (await this.#take(amount)) return true;
			if (!usage.isShared) return false;
			await wait(Math.random() * retryMs * 2 ** tries);
			await usage.refresh();
			if (!this.#fits(amount)) return false;
		}
		return false;
	}

	/** Reserves an amount: where this process counts alone, before this returns, since several files of one copy may need it at once. */
	#take(amount: Amount): boolean | Promise<boolean> {
		const { usage, limit } = this.#home;
		const taken = () => {
			// Another part of the same work has failed meanwhile.
			if (this.#isReleased) usage.reserved.release(amount);
			for (const sum of [this.#own, this.#arrived]) {
				sum.bytes += amount.bytes;
				sum.entries += amount.entries;
			}
			return true;
		};
		return usage.take(amount, limit, () => this.#fits(amount)).then((isTaken) => isTaken && taken());
	}

	include(stagedId: string): void {
		const { reservedFiles, usage } = this.#home;
		this.#stagedIds.push(stagedId);
		reservedFiles.set(stagedId, this);
		usage.reserved.stagedIds.add(stagedId);
	}

	recorded(bytes: number): void {
		const { usage } = this.#home;
		if (!usage.isShared || this.#recorded === undefined) return;
		// All count it by the row of the upload from now on.
		const counted = { bytes: Math.min(this.#own.bytes, Math.max(0, bytes - this.#recorded)), entries: 0 };
		this.#recorded += counted.bytes;
		this.#own = minus(this.#own, counted);
		usage.reserved.recorded(counted);
	}

	async published(amount: Amount): Promise<void> {
		const left = minus(this.#own, amount);
		const reserved = minus(this.#own, left);
		this.#own = left;
		await this.#home.usage.published(amount, reserved);
	}

	release(outcome?: 'begun' | 'complete'): void {
		if (this.#isReleased) return;
		this.#isReleased = true;
		const { reservedFiles, usage } = this.#home;
		const [stagedId] = this.#stagedIds;
		if (outcome === 'complete' && usage.isShared && stagedId !== undefined) usage.reserved.linger(stagedId, this.#own);
		else usage.reserved.release(this.#own, this.#isUnfinished || outcome !== undefined ? this.#own : undefined);
		for (const id of this.#stagedIds) {
			reservedFiles.delete(id);
			usage.reserved.stagedIds.delete(id);
		}
	}

	/**
	 * Throws `storageFull` unless this much more fits into the known rest. Bytes that the same upload has brought so far
	 * are released once it is refused.
	 */
	#assertRoom(more: Amount): void {
		if (!this.#fits(more)) this.#refuse(more);
	}

	#refuse(more: Amount): never {
		const { viewer, limit } = this.#home;
		const excess = this.#excess(more);
		const left = this.#left();
		for (const kind of ['bytes', 'entries'] as const) {
			if (excess[kind] > 0) throw full(viewer, kind, limit[kind], Math.max(0, left[kind]) + this.#arrived[kind]);
		}
		// Another process has released what did not fit.
		throw full(viewer, more.bytes > 0 ? 'bytes' : 'entries', limit[more.bytes > 0 ? 'bytes' : 'entries'], 0);
	}

	/** The known rest; less than nothing where more is there than there may be. */
	#left(): Amount {
		const { limit, usage } = this.#home;
		const taken = usage.taken();
		return { bytes: limit.bytes - taken.bytes, entries: limit.entries - taken.entries };
	}

	/** How far the limits would be exceeded by so much more. */
	#excess(more: Amount): Amount {
		const { limit } = this.#home;
		const left = this.#left();
		const excessOf = (kind: keyof Amount) =>
			limit[kind] > 0 && more[kind] > 0 ? Math.max(0, more[kind] - left[kind]) : 0;
		return { bytes: excessOf('bytes'), entries: excessOf('entries') };
	}

	#fits(more: Amount): boolean {
		const { bytes, entries } = this.#excess(more);
		return bytes === 0 && entries === 0;
	}

	/** Whether it fits by a corrected count: one that may be too high is measured again before anything is refused or gives way. */
	async #fitsAtLast(more: Amount): Promise<boolean> {
		await this.#home.usage.correct(() => this.#excess(more));
		return this.#fits(more);
	}
}

function minus(a: Amount, b: Amount): Amount {
	return { bytes: Math.max(0, a.bytes - b.bytes), entries: Math.max(0, a.entries - b.entries) };
}

function full(viewer: Viewer, kind: keyof Amount, limit: number, left: number): Failure {
	const text = (count: number) =>
		kind === 'bytes' ? formatListSize(count) : plural(count, 'file or folder', 'files and folders');
	// Nobody else learns how much of their quota a user has used.
	if (viewer.kind === 'user' && (viewer.receives !== undefined || viewer.member !== undefined))
		return new Failure('storageFull', 'There is not enough room for this here.');
	const who = viewer.kind === 'user' ? 'You may keep' : 'Visitors may keep';
	return new Failure('storageFull', `${who} ${text(limit)} here, and ${text(left)} of that is left.`);
}
