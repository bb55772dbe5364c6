import * as fs from 'node:fs';
import { parsePath, type StoragePath } from '@stowage/rules';
import type { Disk } from '../root/Disk.js';
import { randomName, replacingPrefix } from '../root/privateFolder.js';
import { closeSync, fsync, lstat, open, readFully, unlink, writeFully } from '../system/descriptors.js';
import { type FileStat, objectId } from '../system/fileStat.js';
import { type Folder, readFileFlags } from '../system/openFolder.js';
import { isSystemError } from '../system/systemErrors.js';

/** Identifies the file to be replaced, also once it has lost its name, which only changes its ctime. */
export interface OldFile {
	object: string;
	size: number;
	/** Nanoseconds since the epoch. */
	mtime: string;
}

/** A replacement of a file: the data needed to complete or undo it. */
export interface IntentRecord {
	/** The former place of the file: its name in staging, or its path. */
	from: { staged: string } | { path: StoragePath };
	/** The file itself. */
	object: string;
	to: StoragePath;
	old: OldFile;
	/** Where the replaced file goes; undefined if it is removed. */
	keepAs: StoragePath | undefined;
}

const suffix = '.json';

/** More bytes than two paths take. */
const maxBytes = 64 * 1024;

/**
 * The durable record of a replacement under way, locked by the call that works on it. It names a place in staging that contains the file
 * before the exchange and the replaced one after it, and exists for as long as that place is in use: so a file there has a record, also
 * after a power cut.
 */
export class ReplaceIntent implements Disposable {
	private constructor(
		readonly staging: Folder,
		/** The name in staging of the exchanged file. */
		readonly held: string,
		readonly fd: number,
	) {}

	/** Resolves once it is durable. */
	static async begin(disk: Disk, staging: Folder, record: IntentRecord): Promise<ReplaceIntent> {
		for (;;) {
			const held = replacingPrefix + randomName();
			const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants;
			const fd = await open(staging.at(held + suffix), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
			const intent = new ReplaceIntent(staging, held, fd);
			try {
				// Another process that opens the root just now may have taken the empty file for a leftover.
				if (disk.calls.tryLock?.(fd) === true && (await intent.#exists())) {
					await writeFully(fd, [Buffer.from(JSON.stringify(record))], 0);
					await fsync(fd);
					await disk.syncs.sync(staging);
					return intent;
				}
			} catch (error) {
				await intent.end().catch(() => {});
				intent[Symbol.dispose]();
				throw error;
			}
			intent[Symbol.dispose]();
		}
	}

	/** The record that a crash left under this name in staging; undefined for another file, and while it is locked. */
	static async take(disk: Disk, staging: Folder, name: string): Promise<ReplaceIntent | undefined> {
		if (!isIntent(name)) return undefined;
		const fd = await open(staging.at(name), readFileFlags);
		if (disk.calls.tryLock?.(fd) === true) return new ReplaceIntent(staging, name.slice(0, -suffix.length), fd);
		closeSync(fd);
		return undefined;
	}

	/** The record; undefined if the power failed while it was written: then nothing was exchanged. */
	async read(): Promise<IntentRecord | undefined> {
		const buffer = Buffer.alloc(maxBytes);
		const text = buffer.toString('utf8', 0, await readFully(this.fd, buffer, 0));
		try {
			const { from, to, object, old, keepAs } = JSON.parse(text);
			return {
				from: 'path' in from ? { path: parsePath(from.path) } : { staged: String(from.staged) },
				to: parsePath(to),
				object: String(object),
				old: { object: String(old.object), size: Number(old.size), mtime: String(old.mtime) },
				keepAs: keepAs === undefined ? undefined : parsePath(keepAs),
			};
		} catch {
			return undefined;
		}
	}

	/** Removes the record, once its name in staging is free. */
	async end(): Promise<void> {
		await unlink(this.staging.at(this.held + suffix));
	}

	async #exists(): Promise<boolean> {
		try {
			await lstat(this.staging.at(this.held + suffix));
			return true;
		} catch (error) {
			if (isSystemError(error, 'ENOENT')) return false;
			throw error;
		}
	}

	[Symbol.dispose](): void {
		closeSync(this.fd);
	}
}

/** Whether a name in staging is that of such a record. */
export function isIntent(name: string): boolean {
	return name.startsWith(replacingPrefix) && name.endsWith(suffix);
}

/** The name of the record for the name of an exchanged file. */
export function intentOf(held: string): string {
	return held + suffix;
}

export function oldFile(stat: FileStat): OldFile {
	return { object: objectId(stat), size: stat.size, mtime: String(stat.mtimeNs) };
}

/** Whether this is the file that was to be replaced, as it was then. */
export function isOldFile(old: OldFile, stat: FileStat): boolean {
	const { object, size, mtime } = oldFile(stat);
	return stat.type === 'file' && object === old.object && size === old.size && mtime === old.mtime;
}
