import { Failure, formatListSize, plural, type Viewer } from '@stowage/rules';
import type { ByteMeter } from '../trees/metered.js';
import { type HomeUsage, plus } from './HomeUsage.js';
import type { Amount } from './measureTree.js';

/** A reservation in a home's quota for data that is arriving. */
export interface Reservation {
	/** Throws `storageFull` unless this many more bytes and entries fit, or will once the trash gives way to them as they arrive. */
	assertRoom(amount: Amount): Promise<void>;
	/** Takes this much, to which the trash gives way. Throws `storageFull` unless it fits. */
	add(amount: Amount): Promise<void>;
	/** Takes over the bytes of this staged file, so that they need not be reserved again when it is published. */
	include(stagedId: string): void;
	/**
	 * Releases the reservation, once the data is counted in the home, or is dropped. Bytes `held` by an unfinished upload continue to
	 * count.
	 */
	release(outcome?: 'held'): void;
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

/** In a home without a quota, where nothing is counted. */
export const unlimited: Reservation = {
	assertRoom: async () => {},
	add: async () => {},
	include: () => {},
	release: () => {},
};

interface Limited {
	viewer: Viewer;
	limit: Amount;
	usage: HomeUsage;
	/** Ids of the staged files whose bytes are reserved in this home. */
	reservedFiles: Set<string>;
	/** Whether what is in the trash could make so much room. */
	canGiveWay(lack: Amount): Promise<boolean>;
	/** Makes room by what is in the trash, if that is enough; resolves to whether it is. */
	giveWay(lack: Amount): Promise<boolean>;
}

/** A reservation in a home with a quota. */
export class LimitedReservation implements Reservation {
	readonly #home: Limited;
	/** All that is reserved, and of that what has arrived by this reservation. */
	readonly #own: Amount;
	readonly #arrived: Amount = { bytes: 0, entries: 0 };
	readonly #stagedIds: string[] = [];
	#isReleased = false;

	constructor(home: Limited, unfinished: UnfinishedFile | undefined) {
		this.#home = home;
		this.#own = { bytes: unfinished?.bytes ?? 0, entries: unfinished === undefined ? 0 : 1 };
		if (unfinished !== undefined) {
			const { usage } = home;
			// It was among the unfinished uploads without a connection.
			usage.held = plus(usage.held, { bytes: -this.#own.bytes, entries: -this.#own.entries });
			this.include(unfinished.stagedId);
		}
		this.#reserve(this.#own, 1);
	}

	async assertRoom(amount: Amount): Promise<void> {
		if (this.#fits(amount) || (await this.#fitsAtLast(amount))) return;
		if (!(await this.#home.canGiveWay(this.#excess(amount)))) this.#assertRoom(amount);
	}

	async add(amount: Amount): Promise<void> {
		if (!this.#fits(amount)) {
			if (!(await this.#fitsAtLast(amount))) await this.#home.giveWay(this.#excess(amount));
			this.#assertRoom(amount);
		}
		// Reserved synchronously: several files of one copy may need it at once.
		for (const sum of [this.#own, this.#arrived]) {
			sum.bytes += amount.bytes;
			sum.entries += amount.entries;
		}
		this.#reserve(amount, 1);
	}

	include(stagedId: string): void {
		const { reservedFiles, usage } = this.#home;
		this.#stagedIds.push(stagedId);
		reservedFiles.add(stagedId);
		usage.stagedIds.add(stagedId);
	}

	release(outcome?: 'held'): void {
		if (this.#isReleased) return;
		this.#isReleased = true;
		const { reservedFiles, usage } = this.#home;
		this.#reserve(this.#own, -1);
		if (outcome === 'held') usage.held = plus(usage.held, this.#own);
		for (const id of this.#stagedIds) {
			reservedFiles.delete(id);
			usage.stagedIds.delete(id);
		}
	}

	#reserve({ bytes, entries }: Amount, sign: 1 | -1): void {
		const { reserved } = this.#home.usage;
		reserved.bytes += sign * bytes;
		reserved.entries += sign * entries;
	}

	/** Throws `storageFull` unless this much more fits into the known rest. Bytes that the same upload has brought so far are released once it is refused. */
	#assertRoom(more: Amount): void {
		const { viewer, limit } = this.#home;
		const excess = this.#excess(more);
		const left = this.#left();
		for (const kind of ['bytes', 'entries'] as const) {
			if (excess[kind] > 0) throw full(viewer, kind, limit[kind], Math.max(0, left[kind]) + this.#arrived[kind]);
		}
	}

	/** The known rest; less than nothing where more is there than there may be. */
	#left(): Amount {
		const { limit, usage } = this.#home;
		const taken = plus(plus(usage.current(), usage.reserved), usage.held);
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

	/** The same by another count: one that may be too high is measured again before anything is refused or gives way. */
	async #fitsAtLast(more: Amount): Promise<boolean> {
		await this.#home.usage.correct();
		return this.#fits(more);
	}
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
