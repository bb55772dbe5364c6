import type { StagedFile, StorageItem, StorageProvider, UploadStore, UserStore } from '@stowage/plugin-api';
import { anonymousOwner, Failure, formatListSize, homeRoot, isFailure, plural, type Viewer } from '@stowage/rules';
import type { Config } from '../config/schema.js';
import { FairQueue } from '../limits/FairQueue.js';
import type { ByteMeter } from '../limits/metered.js';
import type { Log } from '../log.js';
import { HomeUsage, plus } from './HomeUsage.js';
import type { Amount } from './measureTree.js';

interface Dependencies {
	config: Pick<Config, 'quotas'>;
	users: Pick<UserStore, 'quota'>;
	uploads: Pick<UploadStore, 'unfinishedTotals'>;
	storage(): StorageProvider;
	log: Log;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/** A reservation in a home's quota for data that is arriving. */
export interface Reservation {
	/** Throws `storageFull` unless this many more bytes and entries fit. */
	assertRoom(amount: Amount): Promise<void>;
	/** The same, and takes it. */
	add(amount: Amount): Promise<void>;
	/** Takes over the bytes of this staged file, so that they need not be reserved again when it is published. */
	cover(stagedId: string): void;
	/** Releases the reservation, once the data is counted in the home, or is dropped. Bytes `held` by an unfinished upload continue to count. */
	release(outcome?: 'held'): void;
}

/** Takes the bytes of an upload as they arrive. */
export function meterOf(reservation: Reservation): ByteMeter {
	return {
		arrived: (bytes) => reservation.add({ bytes, entries: 0 }),
		ended: () => {},
	};
}

/** The quotas of homes: users' own, and the one of all visitors. Without a quota nothing is counted. */
export interface Quotas {
	/** Begins with the bytes that the staged file of an unfinished upload contains, if one is named. */
	reserve(viewer: Viewer, unfinished?: { stagedId: string; bytes: number }): Promise<Reservation>;
	/** Runs work with a reservation, and counts the result in the home once it has succeeded. */
	adding<T>(viewer: Viewer, work: (reservation: Pick<Reservation, 'add'>) => Promise<T>): Promise<T>;
	/** Runs `publish`, which publishes staged files in the home, and counts them. Reserves for those that no reservation covers. */
	publishing(
		viewer: Viewer,
		staged: readonly StagedFile[],
		publish: () => Promise<StorageItem[]>,
	): Promise<StorageItem[]>;
	/** Runs `remove`; measures before it what will be removed. */
	removing(viewer: Viewer, stat: () => Promise<StorageItem>, remove: () => Promise<void>): Promise<void>;
	/** An unfinished upload was dropped. */
	onUploadDropped(viewer: Viewer): void;
	/** The quota of a user and its use; undefined without a quota, or if measuring takes longer than `waitMs`. */
	usage(viewer: Viewer, waitMs: number): Promise<{ quota: Amount; used: Amount } | undefined>;
	/** The content of a home, measured by a walk if it is not known. */
	used(viewer: Viewer): Promise<Amount>;
}

/** How long a quota is cached: one that is changed by another process applies after that. */
const rememberedMs = 5_000;
const maxRemembered = 10_000;

const nothing: Amount = { bytes: 0, entries: 0 };

const unlimited: Reservation = {
	assertRoom: async () => {},
	add: async () => {},
	cover: () => {},
	release: () => {},
};

/** Checks again after a refusal that was based on an old count: a new measurement decides. */
async function retryCorrected(usage: HomeUsage, check: () => void): Promise<void> {
	try {
		check();
	} catch {
		await usage.correct();
		check();
	}
}

export function createQuotas({ config, users, uploads, storage, log, monotonic }: Dependencies): Quotas {
	const homes = new Map<string, HomeUsage>();
	const remembered = new Map<string, { quota: Amount; at: number }>();
	const covered = new Set<string>();
	const walks = new FairQueue(
		{ running: 2, runningPerClient: 1, waiting: 10_000, waitingPerClient: 10 },
		'Too many homes are being measured. Please try again in a moment.',
	);

	const homeOf = (viewer: Viewer) => homeRoot(viewer.kind === 'user' ? viewer.username : anonymousOwner);

	const usageOf = (viewer: Viewer): HomeUsage => {
		const home = homeOf(viewer);
		const known =
			homes.get(home) ??
			new HomeUsage(home, {
				storage,
				walks,
				log,
				monotonic,
				unfinishedTotals: (except) => uploads.unfinishedTotals(viewer.kind === 'user' ? viewer.id : null, except),
			});
		homes.set(home, known);
		return known;
	};

	const quotaOf = async (viewer: Viewer): Promise<Amount | undefined> => {
		const quota = await configuredQuota(viewer);
		if (quota.bytes > 0 || quota.entries > 0) return quota;
		// Not counted from now on; a later quota begins with a walk.
		homes.delete(homeOf(viewer));
		return undefined;
	};

	const configuredQuota = async (viewer: Viewer): Promise<Amount> => {
		const { userBytes, userEntries, anonymousBytes, anonymousEntries } = config.quotas;
		if (viewer.kind === 'anonymous') return { bytes: anonymousBytes, entries: anonymousEntries };
		const known = remembered.get(viewer.id);
		if (known !== undefined && monotonic() - known.at < rememberedMs) return known.quota;
		const own = await users.quota(viewer.id);
		const quota = { bytes: own.bytes ?? userBytes, entries: own.entries ?? userEntries };
		if (remembered.size >= maxRemembered) remembered.clear();
		remembered.set(viewer.id, { quota, at: monotonic() });
		return quota;
	};

	/** Throws `storageFull` unless this much more fits into the known rest. Bytes that the same upload has brought so far are released once it is refused. */
	const assertRoom = (viewer: Viewer, usage: HomeUsage, quota: Amount, more: Amount, arrived: Amount): void => {
		const taken = plus(plus(usage.current(), usage.reserved), usage.held);
		for (const kind of ['bytes', 'entries'] as const) {
			const left = Math.max(0, quota[kind] - taken[kind]);
			if (quota[kind] > 0 && more[kind] > 0 && more[kind] > left) {
				throw full(viewer, kind, quota[kind], left + arrived[kind]);
			}
		}
	};

	const quotas: Quotas = {
		async reserve(viewer, unfinished) {
			const quota = await quotaOf(viewer);
			if (quota === undefined) return unlimited;
			const usage = usageOf(viewer);
			await usage.used();
			const own: Amount = { bytes: unfinished?.bytes ?? 0, entries: unfinished === undefined ? 0 : 1 };
			const brought: Amount = { bytes: 0, entries: 0 };
			const ids: string[] = [];
			const cover = (stagedId: string) => {
				ids.push(stagedId);
				covered.add(stagedId);
				usage.stagedIds.add(stagedId);
			};
			const add = ({ bytes, entries }: Amount, sign: 1 | -1) => {
				usage.reserved.bytes += sign * bytes;
				usage.reserved.entries += sign * entries;
			};
			if (unfinished !== undefined) {
				// It was among the unfinished uploads without a connection.
				usage.held = plus(usage.held, { bytes: -own.bytes, entries: -own.entries });
				cover(unfinished.stagedId);
			}
			add(own, 1);
			let isReleased = false;
			const reservation: Reservation = {
				assertRoom: (amount) => retryCorrected(usage, () => assertRoom(viewer, usage, quota, amount, brought)),
				add: (amount) =>
					retryCorrected(usage, () => {
						// Reserved synchronously: several files of one copy may need it at once.
						assertRoom(viewer, usage, quota, amount, brought);
						for (const sum of [own, brought]) {
							sum.bytes += amount.bytes;
							sum.entries += amount.entries;
						}
						add(amount, 1);
					}),
				cover,
				release(fate) {
					if (isReleased) return;
					isReleased = true;
					add(own, -1);
					if (fate === 'held') usage.held = plus(usage.held, own);
					for (const id of ids) {
						covered.delete(id);
						usage.stagedIds.delete(id);
					}
				},
			};
			return reservation;
		},

		async adding(viewer, work) {
			const reservation = await quotas.reserve(viewer);
			let taken = nothing;
			try {
				const result = await work({
					async add(amount) {
						await reservation.add(amount);
						taken = plus(taken, amount);
					},
				});
				homes.get(homeOf(viewer))?.add(taken);
				return result;
			} finally {
				reservation.release();
			}
		},

		async publishing(viewer, staged, publish) {
			if ((await quotaOf(viewer)) === undefined) return publish();
			return quotas.adding(viewer, async ({ add: take }) => {
				const counted: StagedFile[] = [];
				for (const file of staged) {
					if (covered.has(file.id)) counted.push(file);
					else await reserveIfStaged(file, take);
				}
				const items = await publish();
				const isCounted = (_: unknown, n: number) => counted.includes(staged[n] as StagedFile);
				for (const { size } of items.filter(isCounted)) usageOf(viewer).add({ bytes: size, entries: 1 });
				return items;
			});
		},

		async removing(viewer, stat, remove) {
			const usage = homes.get(homeOf(viewer));
			if (usage === undefined) return remove();
			const item = await stat();
			await remove();
			if (item.type === 'file') usage.add({ bytes: -item.size, entries: -1 });
			else usage.markInexact();
		},

		onUploadDropped(viewer) {
			homes.get(homeOf(viewer))?.invalidateHeld();
		},

		async usage(viewer, waitMs) {
			const quota = await quotaOf(viewer);
			if (quota === undefined) return undefined;
			const measuring = usageOf(viewer).used();
			// A caller with a longer wait gets the failure; here it is not awaited.
			measuring.catch(() => {});
			let timer: NodeJS.Timeout | undefined;
			const isLate = new Promise<undefined>((resolve) => {
				timer = setTimeout(resolve, waitMs, undefined);
			});
			const used = await Promise.race([measuring, isLate]).finally(() => clearTimeout(timer));
			return used && { quota, used };
		},

		used: (viewer) => usageOf(viewer).used(),
	};
	return quotas;
}

/** Reserves for a file without a reservation. A file that has left staging was counted when it arrived. */
async function reserveIfStaged(staged: StagedFile, take: Reservation['add']): Promise<void> {
	let size: number;
	try {
		size = await staged.size();
	} catch (error) {
		if (isFailure(error, 'notFound')) return;
		throw error;
	}
	await take({ bytes: size, entries: 1 });
}

function full(viewer: Viewer, kind: keyof Amount, most: number, left: number): Failure {
	const text = (count: number) =>
		kind === 'bytes' ? formatListSize(count) : plural(count, 'file or folder', 'files and folders');
	const who = viewer.kind === 'user' ? 'You may keep' : 'Visitors may keep';
	return new Failure('storageFull', `${who} ${text(most)} here, and ${text(left)} of that is left.`);
}
