import { setTimeout as wait } from 'node:timers/promises';
import type { StagedFile, StorageProvider } from '@stowage/plugin-api';
import { noFreeSpace } from '@stowage/rules';
import { type ByteMeter, metered } from './metered.js';

/** The default reserve: a twentieth of the disk, at most 1 GB; 1 GB if the storage does not know the size of the disk. */
const autoShare = 1 / 20;
const autoBytes = 1024 ** 3;

/** Bytes that stay free, or `auto`. */
export type FreeSpaceReserve = number | 'auto';

/**
 * How many bytes may be written on a disk before its reserve is reached; less than none where that is in use already.
 * Infinity where the storage does not know its free space: then no reserve is kept.
 */
export async function availableSpace(
	disk: Pick<StorageProvider, 'freeSpace' | 'totalSpace'>,
	{ freeSpaceReserve: reserve }: { freeSpaceReserve: FreeSpaceReserve },
): Promise<number> {
	const kept = reserve === 'auto' ? autoReserve(await disk.totalSpace()) : reserve;
	return ((await disk.freeSpace()) ?? Number.POSITIVE_INFINITY) - kept;
}

function autoReserve(total: number | undefined): number {
	return total === undefined ? autoBytes : Math.min(autoBytes, Math.floor(total * autoShare));
}

/**
 * The most bytes that an upload reserves at once, so that the disk is not checked for every chunk. It reserves no more
 * than it has sent, so an idle upload holds little.
 */
const stepBytes = 16 * 1024 * 1024;

/** Bytes that a storage may buffer in memory before they take space on its disk. */
const maxUnwrittenBytes = 4 * 1024 * 1024;

/** Parts of a copy that may be unwritten at once. */
const maxUnwrittenGrants = 16;

/** With this much left, a reading of the free space is valid for a while: the disk can't be filled in that time. */
const plentyBytes = 2 * 1024 * 1024 * 1024;
const cacheMs = 500;

/** Keeps a part of the disk free, whatever arrives at once and however little of it was announced. */
export interface SpaceGuard {
	/** Throws `storageFull` if the reserve is reached already, or would be by this many bytes. */
	assertSpace(bytes?: number): Promise<void>;
	/** Bytes that may be written. */
	available(): Promise<number>;
	/** Wraps the staged file: a write ends with `storageFull` if the next bytes would use the reserve. */
	guarded(staged: StagedFile): StagedFile;
	/** Begins grants for bytes that are written in other ways, such as a copy. */
	beginGrants(): SpaceGrants;
}

/** The guard of one disk. What users write takes the place of the trash; what visitors write does not. */
export type SpaceGuards = Readonly<Record<'user' | 'anonymous', SpaceGuard>>;

export interface SpaceGrants {
	/** Throws `storageFull` unless this many bytes, which are written next, leave the reserve alone. */
	reserve(bytes: number): Promise<void>;
	/** Called when nothing more is written. */
	end(): void;
}

/** Where little is left, what an upload reserves at once is this part of it. */
const scarceParts = 64;

/** How often it is looked whether others have given back what they had reserved, before anything is refused. */
const lookMs = 100;
const maxLooks = 15;

/** Other processes that write on the same disk. */
interface OtherWriters {
	mayExist(): boolean;
	/** Resolves once they can know what this process has reserved. */
	say(): Promise<void>;
	/** Tells them within a second what this process has reserved, without waiting for that. */
	changed(): void;
	/** What they have reserved that may not be written yet. */
	unwritten(): Promise<number>;
	/** Registers `own`, whose result they are told. */
	include(own: () => number): void;
}

const noOthers: OtherWriters = {
	mayExist: () => false,
	say: async () => {},
	changed: () => {},
	unwritten: async () => 0,
	include: () => {},
};

/**
 * `giveWay` frees bytes by what is in the trash of the disk until `lackNow` resolves to 0, if there is so much; it resolves to
 * whether it does.
 */
export function createSpaceGuards(
	freeAboveReserve: () => Promise<number>,
	giveWay: (lackNow: () => Promise<number>) => Promise<boolean>,
	others = noOthers,
): SpaceGuards {
	/** Bytes granted to uploads under way that may not be written to the disk yet. */
	let promised = 0;

	/** Bytes that are being asked for. */
	let asked = 0;
	others.include(() => promised + asked);

	let lastReading: { free: number; at: number } | undefined;

	const readAlone = async (): Promise<number> => {
		const known = (lastReading?.free ?? 0) - promised;
		if (lastReading !== undefined && known > plentyBytes && performance.now() - lastReading.at < cacheMs) return known;
		// Bytes written during the reading may be missing from both sides.
		const before = promised;
		const reading = { free: 0, at: performance.now() };
		reading.free = await freeAboveReserve();
		lastReading = reading;
		return reading.free - Math.max(before, promised);
	};

	/**
	 * The available bytes among other processes. Where little is left, each process announces what it asks for before
	 * it reads what the others have: of two that ask at once at least one sees the other.
	 */
	const readAvailable: Available = async (needed = 0, wanted = needed) => {
		const alone = await readAlone();
		if (alone > plentyBytes || !others.mayExist()) return alone;
		for (let looks = 1; ; looks++) {
			asked += wanted;
			let available: number;
			let taken: number;
			try {
				if (wanted > 0) await others.say();
				taken = await others.unwritten();
				available = (await readAlone()) - (asked - wanted);
			} finally {
				// What was granted is among what is promised by then.
				if (wanted > 0)
					setImmediate(() => {
						asked -= wanted;
						others.changed();
					});
			}
			if (available < needed || available - taken >= needed || looks >= maxLooks) return available - taken;
			await wait(lookMs * (0.5 + Math.random()));
		}
	};

	/** The available bytes, after room was made if less than `needed` is left. */
	const makeAvailable: Available = async (needed = 0, wanted = needed) => {
		const available = await readAvailable(needed, wanted);
		if (available >= needed) return available;
		const readAgain = () => {
			lastReading = undefined;
			return readAvailable(needed, wanted);
		};
		const gaveWay = await giveWay(async () => Math.max(0, needed - (await readAgain())));
		return gaveWay ? readAgain() : available;
	};

	/** The most that an upload which has brought so much reserves at once. */
	const stepOf = (passed: number): number => {
		const free = lastReading?.free ?? 0;
		const isScarce = free < plentyBytes && others.mayExist();
		return Math.min(stepBytes, passed, isScarce ? Math.max(0, Math.floor(free / scarceParts)) : stepBytes);
	};

	const meter = (available: Available): ByteMeter => {
		let granted = 0;
		let passed = 0;
		let counted = 0;
		return {
			async arrived(bytes) {
				if (bytes > granted) {
					const wanted = Math.max(bytes, stepOf(passed));
					const all = granted + (await available(bytes - granted, wanted - granted));
					if (all < bytes) throw noFreeSpace();
					granted = Math.min(all, wanted);
				}
				granted -= bytes;
				passed += bytes;
				if (lastReading !== undefined) lastReading.free -= bytes;
				const now = granted + Math.min(passed, maxUnwrittenBytes);
				promised += now - counted;
				counted = now;
				others.changed();
			},
			ended() {
				promised -= counted;
				counted = 0;
				others.changed();
			},
		};
	};

	const guardOf = (available: Available): SpaceGuard => ({
		async assertSpace(bytes = 0) {
			if ((await available(bytes + 1, 0)) <= bytes) throw noFreeSpace();
		},
		available: () => readAvailable(),
		beginGrants() {
			const granted: number[] = [];
			return {
				async reserve(bytes) {
					if (bytes > (await available(bytes))) throw noFreeSpace();
					promised += bytes;
					others.changed();
					granted.push(bytes);
					// Bytes reserved this long ago are written, and included in the reading.
					if (granted.length > maxUnwrittenGrants) promised -= granted.shift() ?? 0;
				},
				end() {
					for (const bytes of granted.splice(0)) promised -= bytes;
					others.changed();
					lastReading = undefined;
				},
			};
		},

		guarded: (staged) => metered(staged, () => [meter(available)]),
	});
	return { user: guardOf(makeAvailable), anonymous: guardOf(readAvailable) };
}

/** Bytes that may be written, of which so many are needed, and so many wanted. */
type Available = (needed?: number, wanted?: number) => Promise<number>;
