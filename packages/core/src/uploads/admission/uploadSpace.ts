import { setTimeout as wait } from 'node:timers/promises';
import type { StorageProvider } from '@stowage/plugin-api';
import { Failure, isStranger, type Viewer } from '@stowage/rules';
import type { Config } from '../../config/schema.js';
import { clientKey } from '../../http/requests/proxy.js';
import type { ClientClaim, DiskUses } from '../../trees/space/DiskUses.js';
import { availableSpace } from '../../trees/space/freeSpace.js';
import type { ByteMeter } from '../../trees/space/metered.js';
import type { Trees } from '../../trees/Trees.js';
import type { TrashBin } from '../../trees/trash/TrashBin.js';

interface Dependencies {
	config: Pick<Config, 'uploads'>;
	trees: Pick<Trees, 'own'>;
	diskUses: DiskUses;
	trashBin: Pick<TrashBin, 'eviction'>;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/** Who uploads, and from where. */
export interface Uploader {
	viewer: Viewer;
	address: string;
	/** Whether what is uploaded may count for somebody else in the end. */
	mayHavePayer?(): Promise<boolean>;
}

/** An upload without a byte for this long claims no space, whatever it still lacks. */
const idleMs = 10_000;

/** All uploads of one client together claim at most this share of the free space, and all clients' this. */
const clientShare = 1 / 4;
const totalShare = 1 / 2;

/**
 * How often, and how many times, other processes' claims are read again before anything is refused because of them:
 * each of those says every second what it has under way, on a busy machine later.
 */
const lookMs = 100;
const maxLooks = 50;

/** Smaller uploads don't check the disk beforehand: a full disk fails the write, and the reserve is checked while bytes arrive. */
const smallBytes = 1024 * 1024;

/** Smaller chunks don't check the disk beforehand: the whole length of their upload was checked when it began. */
const smallChunkBytes = 64 * 1024 * 1024;

/** Refuses uploads before they arrive, by their announced length. */
export interface UploadSpace {
	/** Throws `storageFull` unless the next chunk of an upload can be written without touching the reserve. */
	assertChunk(viewer: Viewer, bytes: number): Promise<void>;
	/** Throws `storageFull` unless a new upload fits, with room for the uploads under way. Visitors take nothing from users. */
	assertNew(uploader: Uploader, bytes: number): Promise<void>;
	/** Claims the bytes that a body still lacks, from its first byte until shortly after its last: an announcement alone claims nothing. */
	claim(uploader: Uploader, bytes: number): ByteMeter;
}

interface Claim {
	client: string;
	viewer: Viewer;
	left: number;
	/** The time of the last bytes. */
	lastBytesAt: number;
}

export function createUploadSpace(dependencies: Dependencies): UploadSpace {
	const { config, trees, diskUses, trashBin: trash, monotonic } = dependencies;
	const claims = new Set<Claim>();
	const isActive = ({ lastBytesAt }: Claim) => monotonic() - lastBytesAt <= idleMs;

	const diskOf = (viewer: Viewer) => trees.own(viewer, 'public').disk();
	const freeOn = (disk: StorageProvider) => availableSpace(disk, config.uploads);

	/** The claims of uploads under way, by the ids of the roots that they are on. */
	const activeClaims = async (): Promise<Map<string, ClientClaim[]>> => {
		const byRoot = new Map<string, ClientClaim[]>();
		for (const { client, viewer, left } of [...claims].filter(isActive)) {
			const { rootId } = await diskOf(viewer);
			const known = byRoot.get(rootId) ?? [];
			known.push({ client, isStranger: isStranger(viewer), left });
			byRoot.set(rootId, known);
		}
		return byRoot;
	};
	diskUses.includeClaims(activeClaims);

	/** How much of what is free these claim; visitors' claims count for visitors only. */
	const claimedBy = (all: readonly ClientClaim[], free: number, isForVisitor: boolean): number => {
		const byClient = new Map<string, number>();
		for (const { client, left, ...claim } of all) {
			if (claim.isStranger && !isForVisitor) continue;
			byClient.set(client, Math.min(free * clientShare, (byClient.get(client) ?? 0) + left));
		}
		const sum = [...byClient.values()].reduce((some, each) => some + each, 0);
		return Math.min(free * totalShare, sum);
	};

	/** What is left for an upload of so many bytes beside all others under way, also at other processes. */
	const roomBeside = async (disk: StorageProvider, isForVisitor: boolean, bytes: number): Promise<number> => {
		const { rootId } = disk;
		const begun = Date.now();
		for (let looks = 1; ; looks++) {
			const free = Math.max(0, await freeOn(disk));
			const own = (await activeClaims()).get(rootId) ?? [];
			const room = free - claimedBy(own, free, isForVisitor);
			if (room < bytes || !diskUses.mayHaveOthers()) return room;
			const { claims: others, saidAt } = await diskUses.ofOthers(rootId);
			const beside = free - claimedBy([...own, ...others], free, isForVisitor);
			if (beside >= bytes || saidAt >= begun || looks >= maxLooks) return beside;
			await wait(lookMs);
		}
	};

	/** The trash gives way to the bytes that a user uploads as they arrive, and not to their announcement. */
	const assertRoom = async (
		viewer: Viewer,
		{ rootId }: StorageProvider,
		bytes: number,
		roomNow: () => Promise<number>,
	) => {
		const room = await roomNow();
		if (bytes <= room) return;
		if (isStranger(viewer) || !(await trash.eviction.canGiveWay({ rootId }, { bytes: bytes - room, entries: 0 })))
			throw new Failure('storageFull', 'There is not enough free space for this upload.');
	};
	return {
		async assertChunk(viewer, bytes) {
			if (bytes < smallChunkBytes) return;
			const disk = await diskOf(viewer);
			await assertRoom(viewer, disk, bytes, () => freeOn(disk));
		},

		async assertNew({ viewer }, bytes) {
			if (bytes < smallBytes) return;
			const disk = await diskOf(viewer);
			await assertRoom(viewer, disk, bytes, () => roomBeside(disk, isStranger(viewer), bytes));
		},

		claim({ viewer, address }, bytes) {
			const claim: Claim = { client: clientKey(viewer, address), viewer, left: bytes, lastBytesAt: monotonic() };
			return {
				arrived(count) {
					claim.left = Math.max(0, claim.left - count);
					claim.lastBytesAt = monotonic();
					claims.add(claim);
					diskUses.changed();
				},
				ended() {
					claims.delete(claim);
					diskUses.changed();
				},
			};
		},
	};
}
