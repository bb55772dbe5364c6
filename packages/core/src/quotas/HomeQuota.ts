import type { RemovalOptions, StagedFile, StorageItem } from '@stowage/plugin-api';
import { undefinedIf, type Viewer } from '@stowage/rules';
import { plus } from './amounts.js';
import type { HomeUsage } from './HomeUsage.js';
import type { Amount } from './measureTree.js';
import { LimitedReservation, type Reservation, type UnfinishedFile, unlimited } from './Reservation.js';

interface Dependencies {
	viewer: Viewer;
	/** Undefined without a quota: then nothing is counted. */
	limit(): Promise<Amount | undefined>;
	/** The content of the home, which is measured from now on. */
	usage(): HomeUsage;
	/** The content of the home, if it is measured already. */
	knownUsage(): HomeUsage | undefined;
	/** The content of the home, if this process or another one may count it. */
	countedUsage(): Promise<HomeUsage | undefined>;
	/** The reservations of staged files in this home, by the ids of the files. */
	reservedFiles: Map<string, Reservation>;
	/** Whether what is in the trash could make so much room. */
	canGiveWay(lack: Amount): Promise<boolean>;
	/** Makes room by what is in the trash, if that is enough; resolves to whether it is. */
	giveWay(lackNow: () => Promise<Amount>): Promise<boolean>;
}

/** The quota of one home: a user's own, or the one of all visitors. */
export class HomeQuota {
	readonly #home: Dependencies;

	constructor(home: Dependencies) {
		this.#home = home;
	}

	/** Begins with the bytes that the staged file of an unfinished upload contains, if one is named. */
	async reserve(unfinished?: UnfinishedFile): Promise<Reservation> {
		const limit = await this.#home.limit();
		if (limit === undefined) return unlimited;
		const { viewer, reservedFiles, canGiveWay, giveWay } = this.#home;
		const usage = this.#home.usage();
		await usage.used();
		return new LimitedReservation({ viewer, limit, usage, reservedFiles, canGiveWay, giveWay }, unfinished);
	}

	/** Runs work with a reservation, and counts the result in the home once it has succeeded. */
	async adding<T>(work: (reservation: Pick<Reservation, 'add'>) => Promise<T>): Promise<T> {
		const reservation = await this.reserve();
		let added: Amount = { bytes: 0, entries: 0 };
		try {
			const result = await work({
				async add(amount) {
					await reservation.add(amount);
					added = plus(added, amount);
				},
			});
			await reservation.published(added);
			return result;
		} finally {
			reservation.release();
		}
	}

	/** Runs `publish`, which publishes staged files in the home, and counts them. Reserves for those that no reservation covers. */
	async publishing(staged: readonly StagedFile[], publish: () => Promise<StorageItem[]>): Promise<StorageItem[]> {
		if ((await this.#home.limit()) === undefined) return publish();
		return this.adding(async ({ add }) => {
			const reservations = new Map<number, Reservation>();
			for (const [n, file] of staged.entries()) {
				const reservation = this.#home.reservedFiles.get(file.id);
				if (reservation !== undefined) reservations.set(n, reservation);
				else await reserveIfStaged(file, add);
			}
			const items = await publish();
			for (const [n, { size }] of items.entries()) await reservations.get(n)?.published({ bytes: size, entries: 1 });
			return items;
		});
	}

	/** Runs `replace`, which replaces a file that is gone after it. All processes know of it when this resolves. */
	async replacing<T>({ size }: StorageItem, replace: () => Promise<T>): Promise<T> {
		const made = await replace();
		const usage = this.#home.knownUsage();
		usage?.removed({ bytes: size, entries: 1 });
		await usage?.tell();
		return made;
	}

	/**
	 * Runs `remove`, which passes on `onRemoved`, and counts what it has in fact removed: something else may be at a path than was there
	 * a moment before. All processes know of it when this resolves.
	 */
	async removing(remove: (options: Pick<RemovalOptions, 'onRemoved'>) => Promise<void>): Promise<void> {
		const usage = await this.#home.countedUsage();
		if (usage === undefined) return remove({});
		await usage.beforeRemoval();
		let size: Amount | undefined;
		const onRemoved = (item: StorageItem) => {
			if (item.type === 'file') size = { bytes: item.size, entries: 1 };
		};
		await remove({ onRemoved });
		usage.removed(size);
		await usage.tell();
	}

	/** Counts a file that stays although the call that published it has failed. */
	async stayed({ size }: StorageItem): Promise<void> {
		await this.#home.knownUsage()?.published({ bytes: size, entries: 1 }, { bytes: 0, entries: 0 });
	}

	/** An unfinished upload was dropped. */
	onUploadDropped(): void {
		this.#home.knownUsage()?.reserved.uploadDropped();
	}
}

/** Reserves for a file without a reservation. A file that has left staging was counted when it arrived. */
async function reserveIfStaged(staged: StagedFile, add: Reservation['add']): Promise<void> {
	const size = await undefinedIf(staged.size(), 'notFound');
	if (size !== undefined) await add({ bytes: size, entries: 1 });
}
