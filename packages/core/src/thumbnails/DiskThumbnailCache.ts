import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { readdir, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeFolders, openRegularFile } from '@stowage/plugin-api';
import { thumbnailFolder } from '../config/dataDir.js';
import type { Config } from '../config/schema.js';
import type { Log } from '../log.js';
import type { CachedThumbnail, MissingThumbnail, ThumbnailCache } from './ThumbnailCache.js';
import { isWholeWebp } from './webp.js';

/** The configured cache. */
export function openThumbnailCache(
	{ dataDir, thumbnails }: Pick<Config, 'dataDir' | 'thumbnails'>,
	log: Log,
): ThumbnailCache {
	if (thumbnails.cacheSize === 0) return { get: async () => undefined, put: async () => {} };
	return new DiskThumbnailCache({ folder: thumbnailFolder(dataDir), maxBytes: thumbnails.cacheSize, log });
}

export interface DiskThumbnailCacheOptions {
	folder: string;
	maxBytes: number;
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

/** Room is made for others no more often: where they take it at once, it would be all that is done. */
const sweepIntervalMs = 60_000;

/** The least space that a file takes on most disks, besides its place in the folder. */
const blockBytes = 4096;

/**
 * Files in 256 folders, by the beginning of their keys. The time of change of each is that of its last use, and after each tenth of the
 * allowed bytes those used least recently are removed, down to eight tenths: another tenth may come while that is done. Several processes
 * may share one folder.
 */
export class DiskThumbnailCache implements ThumbnailCache {
	/** Bytes written since the last sweep. Files of earlier processes are not counted, so the first file begins a sweep. */
	#written = Number.POSITIVE_INFINITY;
	#sweeping: Promise<void> | undefined;
	#hasFailed = false;
	#madeRoomAt = Number.NEGATIVE_INFINITY;
	readonly #options: Required<DiskThumbnailCacheOptions>;

	constructor(options: DiskThumbnailCacheOptions) {
		this.#options = { reserve: 64 * 1024 * 1024, now: Date.now, usePrecisionMs: 10 * 60_000, ...options };
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
		// Sweeping is behind: better to make some again than to take more than was allowed.
		const isBehind = this.#sweeping !== undefined && this.#written + taken > maxBytes / 10;
		if (isBehind || taken > maxBytes / 10) return;
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
			return;
		}
		this.#written += taken;
		if (this.#written > maxBytes / 10) this.#sweeping ??= this.#sweep();
	}

	/** Resolves when the sweep under way has ended. */
	async settled(): Promise<void> {
		await this.#sweeping;
	}

	#fileOf(key: string): string {
		return path.join(this.#options.folder, key.slice(0, 2), key.slice(2));
	}

	#makeRoom(bytes: number): void {
		const now = this.#options.now();
		if (now - this.#madeRoomAt < sweepIntervalMs) return;
		this.#madeRoomAt = now;
		this.#sweeping ??= this.#sweep(bytes);
	}

	/**
	 * Removes the files that were used least recently: those above the maximum, or as many bytes as others lack. Only two numbers are held
	 * for each file.
	 */
	async #sweep(lacking = 0): Promise<void> {
		this.#written = 0;
		try {
			const uses: { at: number; bytes: number }[] = [];
			let total = 0;
			for await (const { at, bytes } of this.#kept()) {
				uses.push({ at, bytes });
				total += bytes;
			}
			let surplus = Math.max(total - this.#options.maxBytes * 0.8, Math.min(lacking, total));
			if (surplus <= 0) return;
			uses.sort((one, other) => one.at - other.at);
			let last = 0;
			for (let index = 0; surplus > 0; index++) {
				const use = uses[index];
				if (use === undefined) break;
				surplus -= use.bytes;
				last = use.at;
			}
			for await (const { at, file } of this.#kept()) if (at <= last) await rm(file, { force: true });
		} catch (error) {
			this.#warnOnce(error, 'old thumbnails could not be removed from the cache');
		} finally {
			this.#sweeping = undefined;
		}
	}

	/** All cached files; temporary files that were abandoned are removed on the way. */
	async *#kept(): AsyncGenerator<{ file: string; at: number; bytes: number }> {
		const { folder, now } = this.#options;
		for (const name of await readdir(folder)) {
			const inner = path.join(folder, name);
			if (name.endsWith('.tmp')) {
				// Another process may have finished or removed it.
				const found = await undefinedIfMissing(stat(inner));
				if (found !== undefined && now() - found.mtimeMs > abandonedMs) await rm(inner, { force: true });
				continue;
			}
			for (const each of await readdir(inner)) {
				const file = path.join(inner, each);
				// Another process may have removed it.
				const found = await undefinedIfMissing(stat(file));
				if (found !== undefined) yield { file, at: found.mtimeMs, bytes: spaceOf(found.size) };
			}
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
