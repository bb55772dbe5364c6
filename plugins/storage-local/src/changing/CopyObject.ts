import * as fs from 'node:fs';
import { Failure } from '@stowage/rules';
import type { Disk } from '../root/Disk.js';
import { copyPrefix, randomName, removedFolder, scratchPrefix } from '../root/privateFolder.js';
import { closeSync, mkdir, open, rename, setModifiedAt } from '../system/descriptors.js';
import { objectId } from '../system/fileStat.js';
import { exists, Folder, openChild } from '../system/openFolder.js';
import { rawName } from '../system/rawNames.js';
import { isSystemError } from '../system/systemErrors.js';
import { formatStagedId, type StagedId } from '../writing/stagedIds.js';
import { removeTree } from './removeTree.js';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = fs.constants;

/** What is copied into a folder of a copy does not change its own time. */
const touchMs = 60 * 60 * 1000;

type ObjectType = 'file' | 'directory';

/**
 * The file or folder in staging that a copy is made in, open and locked so that it is not swept or used by another call. Publishing it is
 * one rename, and a caller with its id finds it afterwards under any name.
 */
export class CopyObject implements Disposable {
	readonly #touching: NodeJS.Timeout | undefined;

	private constructor(
		readonly disk: Disk,
		readonly staging: Folder,
		readonly name: string,
		readonly type: ObjectType,
		readonly folder: Folder,
		/** Whether it has always been empty. */
		readonly isNew: boolean,
	) {
		// No other machine sees the lock there, and sweeps what is a day old.
		if (!disk.isLocal && name.startsWith(scratchPrefix))
			this.#touching = setInterval(() => {
				setModifiedAt(staging.at(name), Date.now() / 1000).catch(() => {});
			}, touchMs).unref();
	}

	get fd(): number {
		return this.folder.fd;
	}

	/** Begins one: `staged`, it stays until it is published or discarded, otherwise it is swept like any leftover. */
	static async begin(disk: Disk, staging: Folder, type: ObjectType, kind: 'staged' | 'scratch'): Promise<CopyObject> {
		for (;;) {
			const name = (kind === 'staged' ? copyPrefix : scratchPrefix) + randomName();
			const object = await CopyObject.#make(disk, staging, type, name);
			if (object !== undefined) return object;
		}
	}

	/**
	 * Finds a staged one again. Resolves to undefined if it has left staging, and removes one of another type, which is of no use. Throws
	 * `locked` while another call works on it.
	 */
	static async find(
		disk: Disk,
		staging: Folder,
		type: ObjectType,
		{ name, object }: StagedId,
	): Promise<CopyObject | undefined> {
		if (disk.busyUploads.has(name)) throw copyInUse();
		const opened = await openObject(staging, type, name, 0);
		if (opened === 'other type') {
			// If this fails, the rest in the trash is swept at the next start.
			await (await discardObject(disk, staging, name))?.().catch(() => {});
			return undefined;
		}
		if (opened === undefined) return undefined;
		if (objectId(await disk.statOf(opened.fd)) === object) {
			if (disk.calls.tryLock?.(opened.fd) === false) {
				closeSync(opened.fd);
				throw copyInUse();
			}
			if (await exists(staging, name)) {
				disk.busyUploads.add(name);
				return new CopyObject(disk, staging, name, type, opened, false);
			}
		}
		closeSync(opened.fd);
		return undefined;
	}

	/** Makes the object and locks it; undefined if a sweep, which can't distinguish new files from those of a crash, came before the lock. */
	static async #make(disk: Disk, staging: Folder, type: ObjectType, name: string): Promise<CopyObject | undefined> {
		if (type === 'directory') await mkdir(staging.at(name));
		// With its final mode from the start: the mode of its parent folder excludes others.
		const opened = await openObject(staging, type, name, O_CREAT | O_EXCL);
		if (opened === undefined || opened === 'other type') return undefined;
		try {
			if (disk.calls.tryLock?.(opened.fd) !== false && (await exists(staging, name))) {
				disk.busyUploads.add(name);
				return new CopyObject(disk, staging, name, type, opened, true);
			}
		} catch (error) {
			closeSync(opened.fd);
			throw error;
		}
		closeSync(opened.fd);
		return undefined;
	}

	async id(): Promise<string> {
		return formatStagedId(this.name, await this.disk.statOf(this.fd));
	}

	/** Removes it unless it was published. */
	async remove(): Promise<void> {
		await removeTree(this.disk, this.staging, rawName(this.name));
	}

	[Symbol.dispose](): void {
		clearInterval(this.#touching);
		this.disk.busyUploads.delete(this.name);
		closeSync(this.fd);
	}
}

/** Takes a staged copy out of staging in one step. Resolves to the work that frees its space. */
export async function discardObject(
	disk: Disk,
	staging: Folder,
	name: string,
): Promise<(() => Promise<void>) | undefined> {
	using trash = await disk.privateFolder(removedFolder, 'path');
	const discarded = randomName();
	try {
		await rename(staging.at(name), trash.at(discarded));
	} catch (error) {
		if (isSystemError(error, 'ENOENT')) return undefined;
		throw error;
	}
	return async () => {
		using again = await disk.privateFolder(removedFolder, 'path');
		await removeTree(disk, again, rawName(discarded));
	};
}

async function openObject(
	staging: Folder,
	type: ObjectType,
	name: string,
	fileFlags: number,
): Promise<Folder | 'other type' | undefined> {
	try {
		if (type === 'directory') return await openChild(staging, name, 'read');
		return new Folder(await open(staging.at(name), O_RDWR | O_NOFOLLOW | O_NONBLOCK | fileFlags, 0o666));
	} catch (error) {
		if (isSystemError(error, 'ENOENT')) return undefined;
		if (isSystemError(error, 'ENOTDIR', 'EISDIR')) return 'other type';
		throw error;
	}
}

function copyInUse(): Failure {
	return new Failure('locked', 'Somebody else is working on this copy.');
}
