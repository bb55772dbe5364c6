import type { StorageProvider } from '@stowage/plugin-api';
import { Failure, isStranger, type Viewer } from '@stowage/rules';
import type { Config } from '../../config/schema.js';
import { clientKey } from '../../http/requests/proxy.js';
import { availableSpace } from '../../trees/freeSpace.js';
import type { ByteMeter } from '../../trees/metered.js';
import type { Trees } from '../../trees/Trees.js';
import type { TrashBin } from '../../trees/trash/TrashBin.js';

interface Dependencies {
	config: Pick<Config, 'uploads'>;
	trees: Pick<Trees, 'own'>;
	trashBin: Pick<TrashBin, 'canGiveWay'>;
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

/** Smaller uploads don't check the disk beforehand: a full disk fails the write, and the reserve is checked while bytes arrive. */
const smallBytes = 1024 * 1024;

/** The same for a chunk of an upload whose whole length was checked when it began. */
const smallChunkBytes = 64 * 1024 * 1024;

/** Refuses uploads before they arrive, by their announced length. */
export interface UploadSpace {
	/** Throws `storageFull` unless the next chunk of an upload can be written without touching the reserve. */
	assertChunk(viewer: Viewer, bytes: number): Promise<void>;
	/** The same for a new upload, which must also leave room for the uploads under way. Visitors take nothing from users. */
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

export function createUploadSpace({ config, trees, trashBin: trash, monotonic }: Dependencies): UploadSpace {
	const claims = new Set<Claim>();

	const diskOf = (viewer: Viewer) => trees.own(viewer, 'public').disk();
	const freeOn = (disk: StorageProvider) => availableSpace(disk, config.uploads);

	/** The claims of others on a disk; visitors' claims count for visitors only. */
	const claimed = async (disk: StorageProvider, free: number, isForVisitor: boolean): Promise<number> => {
		const byClient = new Map<string, number>();
		for (const { client, viewer, left, lastBytesAt } of [...claims]) {
			if (monotonic() - lastBytesAt > idleMs || (isStranger(viewer) && !isForVisitor)) continue;
			if ((await diskOf(viewer)) !== disk) continue;
			byClient.set(client, Math.min(free * clientShare, (byClient.get(client) ?? 0) + left));
		}
		const sum = [...byClient.values()].reduce((all, each) => all + each, 0);
		return Math.min(free * totalShare, sum);
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
		if (isStranger(viewer) || !(await trash.canGiveWay({ rootId }, { bytes: bytes - room, entries: 0 })))
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
			await assertRoom(viewer, disk, bytes, async () => {
				const free = Math.max(0, await freeOn(disk));
				return free - (await claimed(disk, free, isStranger(viewer)));
			});
		},

		claim({ viewer, address }, bytes) {
			const claim: Claim = { client: clientKey(viewer, address), viewer, left: bytes, lastBytesAt: monotonic() };
			return {
				arrived(count) {
					claim.left = Math.max(0, claim.left - count);
					claim.lastBytesAt = monotonic();
					claims.add(claim);
				},
				ended() {
					claims.delete(claim);
				},
			};
		},
	};
}
