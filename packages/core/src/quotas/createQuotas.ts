import type { StorageProvider, UploadStore, UserStore } from '@stowage/plugin-api';
import { anonymousOwner, homeRoot, isFailure, isStranger, type User, type Viewer } from '@stowage/rules';
import type { Config } from '../config/schema.js';
import { FairQueue } from '../limits/FairQueue.js';
import type { Log } from '../log.js';
import type { TrashBin } from '../trees/trash/TrashBin.js';
import { HomeQuota } from './HomeQuota.js';
import { HomeUsage, ownerKey } from './HomeUsage.js';
import type { Amount } from './measureTree.js';
import type { Reservation } from './Reservation.js';
import type { SharedParts } from './shared/sharedParts.js';

interface Dependencies {
	config: Pick<Config, 'quotas'>;
	users: Pick<UserStore, 'get' | 'quota' | 'setUsed'>;
	uploads: Pick<UploadStore, 'unfinishedTotals'>;
	storage(): StorageProvider;
	trash: Pick<TrashBin, 'totals' | 'eviction'>;
	/** Whether other processes may change the homes, too. */
	isShared(): boolean;
	shared: SharedParts;
	log: Log;
	now(): number;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/** The quotas of homes: users' own, and the one of all visitors. Without a quota nothing is counted. */
export interface Quotas {
	of(viewer: Viewer): HomeQuota;
	/** The quota of a user and its use; undefined without a quota, or if measuring takes longer than `waitMs`. */
	usage(viewer: Viewer, waitMs: number): Promise<{ quota: Amount; used: Amount } | undefined>;
	/** Called when something of the trash of the user with this id was removed for good. */
	onPurged(ownerId: string, size: Amount | undefined): void;
	/** The content of a home, by a walk through it now. */
	measured(viewer: Viewer): Promise<Amount>;
	/** Tells other processes that this one has nothing under way any more. */
	close(): Promise<void>;
}

/** How long a quota is cached: one that is changed by another process applies after that. */
const cachedMs = 5_000;
const maxCached = 10_000;

export function createQuotas(dependencies: Dependencies): Quotas {
	const { config, users, uploads, storage, trash, isShared, shared, log, now, monotonic } = dependencies;
	/** The usage of homes by `ownerKey`, as everything here: a user's name may change, and be another user's afterwards. */
	const homes = new Map<string, HomeUsage>();
	const cached = new Map<string, { quota: Amount; at: number }>();
	const reservedFiles = new Map<string, Map<string, Reservation>>();
	const reservedFilesOf = (owner: string | null) => {
		const known = reservedFiles.get(ownerKey(owner)) ?? new Map<string, Reservation>();
		reservedFiles.set(ownerKey(owner), known);
		return known;
	};
	const walks = new FairQueue(
		{ running: 2, runningPerClient: 1, waiting: 10_000, waitingPerClient: 10, leavesPlaces: true },
		'Too many homes are being measured. Please try again in a moment.',
	);

	const ownerOf = (viewer: Viewer) => (viewer.kind === 'user' ? viewer.id : null);

	const homeOf = async (owner: string | null) => {
		const name = owner === null ? anonymousOwner : (await users.get(owner))?.username;
		return name === undefined ? undefined : homeRoot(name);
	};

	/** Records the usage for the administrator's lists. Nothing depends on it, so measuring also succeeds while nothing can be written. */
	const record = async (owner: string | null, { bytes, entries }: Amount) => {
		if (owner === null) return;
		try {
			await users.setUsed(owner, { bytes, entries, measuredAt: now() });
		} catch (error) {
			if (!isFailure(error)) throw error;
			log.debug({ err: error }, 'the usage of a home could not be recorded');
		}
	};

	const usageOf = (owner: string | null): HomeUsage => {
		const known =
			homes.get(ownerKey(owner)) ??
			new HomeUsage({
				...{ owner, isShared, shared, storage, walks, log, monotonic },
				home: () => homeOf(owner),
				onMeasured: (content) => record(owner, content),
				trashTotals: async () => (owner === null ? { bytes: 0, entries: 0 } : trash.totals({ ownerId: owner })),
				unfinishedTotals: (except) => uploads.unfinishedTotals(owner, except),
			});
		homes.set(ownerKey(owner), known);
		return known;
	};

	const limitOf = async (owner: string | null): Promise<Amount | undefined> => {
		const limit = await configuredLimit(owner);
		if (limit.bytes > 0 || limit.entries > 0) return limit;
		// Not counted from now on; a later quota begins with a walk.
		const usage = homes.get(ownerKey(owner));
		homes.delete(ownerKey(owner));
		await usage?.close();
		return undefined;
	};

	const configuredLimit = async (owner: string | null): Promise<Amount> => {
		const { userBytes, userEntries, anonymousBytes, anonymousEntries } = config.quotas;
		if (owner === null) return { bytes: anonymousBytes, entries: anonymousEntries };
		const known = cached.get(owner);
		if (known !== undefined && monotonic() - known.at < cachedMs) return known.quota;
		const own = await users.quota(owner);
		const quota = { bytes: own.bytes ?? userBytes, entries: own.entries ?? userEntries };
		if (cached.size >= maxCached) cached.clear();
		cached.set(owner, { quota, at: monotonic() });
		return quota;
	};

	const countedUsageOf = async (owner: string | null): Promise<HomeUsage | undefined> => {
		const known = homes.get(ownerKey(owner));
		if (known !== undefined || !isShared()) return known;
		return (await limitOf(owner)) === undefined ? undefined : usageOf(owner);
	};

	return {
		of(viewer) {
			const owner = ownerOf(viewer);
			return new HomeQuota({
				viewer,
				limit: () => limitOf(owner),
				usage: () => usageOf(owner),
				knownUsage: () => homes.get(ownerKey(owner)),
				countedUsage: () => countedUsageOf(owner),
				reservedFiles: reservedFilesOf(owner),
				canGiveWay: async (lack) => mayPurge(viewer) && (await trash.eviction.canGiveWay({ ownerId: viewer.id }, lack)),
				giveWay: async (lackNow) => mayPurge(viewer) && (await trash.eviction.giveWay({ ownerId: viewer.id }, lackNow)),
			});
		},

		async usage(viewer, waitMs) {
			const owner = ownerOf(viewer);
			const quota = await limitOf(owner);
			if (quota === undefined) return undefined;
			const measuring = usedNow(usageOf(owner), quota).catch((error: unknown) => {
				// Such as where folders lie too deep: it is said where something is added, and not instead of the page.
				if (isFailure(error, 'conflict')) return undefined;
				throw error;
			});
			// A caller with a longer wait gets the failure; here it is not awaited.
			measuring.catch(() => {});
			let timer: NodeJS.Timeout | undefined;
			const isLate = new Promise<undefined>((resolve) => {
				timer = setTimeout(resolve, waitMs, undefined);
			});
			const used = await Promise.race([measuring, isLate]).finally(() => clearTimeout(timer));
			return used && { quota, used };
		},

		onPurged(ownerId, size) {
			countedUsageOf(ownerId)
				.then((usage) => {
					usage?.removed(size);
					return usage?.tell();
				})
				.catch((error: unknown) => log.warn({ err: error }, 'items that left the trash could not be counted'));
		},

		measured: (viewer) => usageOf(ownerOf(viewer)).measured(),

		async close() {
			for (const usage of homes.values()) await usage.close();
		},
	};
}

/**
 * Also what others have changed a moment ago. What they have reserved counts, since they say later what of it is there, but not as more
 * than the quota: then some of it is about to be released.
 */
async function usedNow(usage: HomeUsage, quota: Amount): Promise<Amount> {
	await usage.used();
	await usage.refresh();
	const content = usage.content();
	const all = usage.current();
	const shown = (kind: keyof Amount) =>
		quota[kind] === 0 ? all[kind] : Math.max(content[kind], Math.min(all[kind], quota[kind]));
	return { bytes: shown('bytes'), entries: shown('entries') };
}

/** Members of a folder delete nothing for good, and so nothing of its owner's trash gives way to what they bring. */
function mayPurge(viewer: Viewer): viewer is User {
	return viewer.kind === 'user' && !isStranger(viewer) && viewer.member === undefined;
}
