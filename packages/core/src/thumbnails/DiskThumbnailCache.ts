import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, readdir, rename, rm, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeFolders, openRegularFile } from '@stowage/plugin-api';
import { thumbnailFolder } from '../config/dataDir.js';
import type { Config } from '../config/schema.js';
import type { Log } from '../log.js';
import type { CachedThumbnail, MissingThumbnail, ThumbnailCache } from './ThumbnailCache.js';
import { isWholeWebp } from './webp.js';

/** The configured cache. `share` is what this process has of a limit of the whole server. */
export function openThumbnailCache(
	{ dataDir, thumbnails }: Pick<Config, 'dataDir' | 'thumbnails'>,
	share: (limit: number) => number,
	log: Log,
): ThumbnailCache {
	if (thumbnails.cacheSize === 0) return { get: async () => undefined, put: async () => {} };
	return new DiskThumbnailCache({ folder: thumbnailFolder(dataDir), maxBytes: thumbnails.cacheSize, share, log });
}

export interface DiskThumbnailCacheOptions {
	folder: string;
	maxBytes: number;
	/** What this process has of a limit of all that share the folder. */
	share?: (limit: number) => number;
	log: Pick<Log, 'warn'>;
	/** Bytes kept free on the disk for essential data. */
	reserve?: number;
	/** The time of day, milliseconds since the epoch. */
	now?: () => number;
	/** How far the recorded time of the last use may be behind. */
	usePrecisionMs?: number;
}

const hourMs = 60 * 60_000;

/** For how long it is known that a content has no thumbnail: a decoder may learn it, and a machine is busy for a while. */
const missingTtlMs: Readonly<Record<MissingThumbnail, number>> = { none: 24 * hourMs, late: hourMs };
const missing = Object.keys(missingTtlMs) as MissingThumbnail[];

/** Writing a file takes seconds; older temporary files were left by a process that was killed. */
const abandonedMs = hourMs;

/** Room is made for others, and a sweep that was not enough repeated, no more often: it would be all that is done. */
const sweepIntervalMs = 60_000;

/** The least space that a file takes on most disks, besides its place in the folder. */
const blockBytes = 4096;

/** What a sweep leaves of the allowed bytes, and how many may be left where some files can't be removed. */
const sweptTo = 0.8;
const mostAfterSweep = 0.9;

/** How often a sweep goes on to later used files in place of those that could not be removed. */
const maxRounds = 4;

const folderName = /^[0-9a-f]{2}$/;

/**
 * Files in 256 folders, by the beginning of their keys. The time of change of each is that of its last use, and after each tenth of the
 * allowed bytes those used least recently are removed, down to eight tenths: another tenth may come while that is done. Several processes
 * may share one folder; each of them sweeps it after its share of that tenth. What else lies there is left alone.
 */
export class DiskThumbnailCache implements ThumbnailCache {
	/** Bytes written since the last sweep. Files of earlier processes are not counted, so the first file begins a sweep. */
	#written = Number.POSITIVE_INFINITY;
	#sweeping: Promise<void> | undefined;
	#hasFailed = false;
	/** Whether the last sweep could not make enough room: nothing more is put until one can. */
	#isFull = false;
	#madeRoomAt = Number.NEGATIVE_INFINITY;
	readonly #options: Required<DiskThumbnailCacheOptions>;

	constructor(options: DiskThumbnailCacheOptions) {
		const defaults = { reserve: 64 * 1024 * 1024, now: Date.now, usePrecisionMs: 10 * 60_000 };
		this.#options = { ...defaults, share: (limit) => limit, ...options };
	}

	async get(key: string): Promise<CachedThumbnail | undefined> {
		const { now, usePrecisionMs } = this.#options;
		try {
			const handle = await openRegularFile(this.#fileOf(key), constants.O_RDWR);
			try {
				const [{ mtimeMs }, bytes] = await Promise.all([handle.stat(), handle.readFile()]);
				const age = Math.abs(now() - mtimeMs);
				const found = missing.find((each) => bytes.equals(Buffer.from(each)));
				if (found !== undefined) return age < missingTtlMs[found] ? found : undefined;
				if (!isWholeWebp(bytes)) return undefined;
				if (age > usePrecisionMs) await handle.utimes(now() / 1000, now() / 1000);
				return bytes;
			} finally {
				await handle.close();
			}
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
				this.#warnOnce(error, 'a cached thumbnail could not be read');
			return undefined;
		}
	}

	async put(key: string, known: CachedThumbnail): Promise<void> {
		const { maxBytes, reserve, folder, now } = this.#options;
		const bytes = typeof known === 'string' ? Buffer.from(known) : known;
		const taken = spaceOf(bytes.length);
		const step = this.#step;
		if (taken > step) return;
		if (this.#isFull) {
			this.#makeRoom(0);
			return;
		}
		// Begun before the file is written, so that no more than one step comes between two sweeps.
		if (this.#written + taken > step) {
			// It is behind: better to make some again than to take more than was allowed.
			if (this.#sweeping !== undefined) return;
			this.#written = 0;
			this.#beginSweep();
		}
		this.#written += taken;
		const temporary = path.join(folder, `${randomUUID()}.tmp`);
		try {
			const file = this.#fileOf(key);
			await makeFolders(path.dirname(file), 0o700);
			const { bavail, bsize } = await statfs(folder);
			const lacking = reserve + bytes.length - bavail * bsize;
			if (lacking > 0) {
				this.#makeRoom(lacking + maxBytes / 10);
				throw new Error('The disk is nearly full.');
			}
			await writeFile(temporary, bytes, { mode: 0o600 });
			await setTimes(temporary, now());
			await rename(temporary, file);
			this.#hasFailed = false;
		} catch (error) {
			this.#warnOnce(error, 'thumbnails can not be cached');
			await rm(temporary, { force: true }).catch(() => {
				// The next sweep removes the rest of it, and the failure was logged.
			});
		}
	}

	/** Resolves when the sweep under way has ended. */
	async settled(): Promise<void> {
		await this.#sweeping;
	}

	/** How many bytes this process writes between two sweeps, and during one. */
	get #step(): number {
		return this.#options.share(this.#options.maxBytes / 10);
	}

	#fileOf(key: string): string {
		return path.join(this.#options.folder, key.slice(0, 2), key.slice(2));
	}

	#makeRoom(bytes: number): void {
		const now = this.#options.now();
		if (Math.abs(now - this.#madeRoomAt) < sweepIntervalMs) return;
		this.#madeRoomAt = now;
		this.#beginSweep(bytes);
	}

	/** Begins a sweep, after the one that is under way. */
	#beginSweep(lacking = 0): void {
		const sweeping = (this.#sweeping ?? Promise.resolve())
			.then(() => this.#sweep(lacking))
			.finally(() => {
				if (this.#sweeping === sweeping) this.#sweeping = undefined;
			});
		this.#sweeping = sweeping;
	}

	/**
	 * Removes the files that were used least recently: those above the maximum, or as many bytes as others lack. Only two numbers are held
	 * for each file.
	 */
	async #sweep(lacking = 0): Promise<void> {
		const { maxBytes } = this.#options;
		try {
			const uses: { at: number; bytes: number }[] = [];
			let total = 0;
			for await (const { at, bytes } of this.#kept()) {
				uses.push({ at, bytes });
				total += bytes;
			}
			uses.sort((one, other) => one.at - other.at);
			const target = Math.min(maxBytes * sweptTo, Math.max(total - lacking, 0));
			// So much may come meanwhile.
			const slack = maxBytes * (mostAfterSweep - sweptTo);
			let left = total;
			for (let round = 0, next = 0; round < maxRounds && next < uses.length; round++) {
				let surplus = left - target;
				if (surplus <= (round === 0 ? 0 : slack)) break;
				for (; surplus > 0 && next < uses.length; next++) surplus -= uses[next]?.bytes ?? 0;
				left = await this.#removeUsedUntil(uses[next - 1]?.at ?? 0);
			}
			this.#isFull = left > maxBytes * mostAfterSweep;
		} catch (error) {
			this.#isFull = true;
			this.#warnOnce(error, 'old thumbnails could not be removed from the cache');
		}
	}

	/** Resolves to how many bytes are left then, whoever has removed the others: several processes may sweep at the same time. */
	async #removeUsedUntil(last: number): Promise<number> {
		let left = 0;
		for await (const { at, file, bytes } of this.#kept()) {
			const isRemoved = at <= last && (await this.#unlessItFails(rm(file, { force: true }).then(() => true)));
			if (!isRemoved) left += bytes;
		}
		return left;
	}

	/** All cached files; temporary files that were abandoned are removed on the way. What can't be read is left out. */
	async *#kept(): AsyncGenerator<{ file: string; at: number; bytes: number }> {
		const { folder, now } = this.#options;
		// Another process may have removed any of it.
		for (const entry of (await undefinedIfMissing(readdir(folder, { withFileTypes: true }))) ?? []) {
			const inner = path.join(folder, entry.name);
			if (entry.isFile() && entry.name.endsWith('.tmp')) {
				const found = await this.#unlessItFails(lstat(inner));
				if (found !== undefined && now() - found.mtimeMs > abandonedMs)
					await this.#unlessItFails(rm(inner, { force: true }));
			}
			if (!entry.isDirectory() || !folderName.test(entry.name)) continue;
			for (const each of (await this.#unlessItFails(readdir(inner))) ?? []) {
				const file = path.join(inner, each);
				const found = await this.#unlessItFails(lstat(file));
				if (found?.isFile()) yield { file, at: found.mtimeMs, bytes: spaceOf(found.size) };
			}
		}
	}

	/** What work results in; undefined if it fails: one damaged folder must not keep all others from being swept. */
	async #unlessItFails<T>(work: Promise<T>): Promise<T | undefined> {
		try {
			return await undefinedIfMissing(work);
		} catch (error) {
			this.#warnOnce(error, 'a file of the cache of thumbnails could not be read or removed');
			return undefined;
		}
	}

	/** Warns of the first failure, and again only after a file could be cached. */
	#warnOnce(error: unknown, message: string): void {
		if (this.#hasFailed) return;
		this.#hasFailed = true;
		this.#options.log.warn({ reason: (error as Error).message }, message);
	}
}

async function setTimes(file: string, ms: number): Promise<void> {
	const handle = await openRegularFile(file, constants.O_RDWR);
	try {
		await handle.utimes(ms / 1000, ms / 1000);
	} finally {
		await handle.close();
	}
}

function spaceOf(bytes: number): number {
	return Math.ceil(bytes / blockBytes) * blockBytes;
}

async function undefinedIfMissing<T>(reading: Promise<T>): Promise<T | undefined> {
	try {
		return await reading;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
		throw error;
	}
}
