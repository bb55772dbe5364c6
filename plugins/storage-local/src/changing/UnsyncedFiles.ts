import { forEachConcurrently } from '@stowage/plugin-api';
import type { Disk } from '../root/Disk.js';
import { closeSync, fsync, open, setModifiedAt } from '../system/descriptors.js';
import { type Folder, openChild, readFileFlags } from '../system/openFolder.js';
import { pathPart, type RawName } from '../system/rawNames.js';

/** How many files, or those of how many milliseconds, are copied again at most after a crash. */
const maxFiles = 1000;
const maxMs = 5000;

const syncConcurrency = 8;

/** Bytes of a path in one call, with room for its prefix. */
const maxPathBytes = 3500;

/** A folder inside a staged copy, by the names on the path to it. Shared by all of its contents. */
export type CopyPath = readonly RawName[];

interface UnsyncedFile {
	name: RawName;
	/** Seconds since the epoch. */
	mtime: number;
}

/**
 * The files of a staged copy whose bytes a power cut could still take. They get their modified time only after a sync: so a file that has
 * the time of its original is certainly complete.
 */
export class UnsyncedFiles {
	#files = new Map<CopyPath, UnsyncedFile[]>();
	#count = 0;
	#since = performance.now();
	#syncing: Promise<void> | undefined;

	constructor(
		readonly disk: Disk,
		readonly copy: Folder,
	) {}

	/** Adds a written file, and waits for a sync once there are many. */
	async add(folder: CopyPath, file: UnsyncedFile): Promise<void> {
		if (this.#count === 0) this.#since = performance.now();
		this.#count++;
		const known = this.#files.get(folder);
		if (known === undefined) this.#files.set(folder, [file]);
		else known.push(file);
		if (this.#count >= maxFiles || performance.now() - this.#since >= maxMs) await this.flush();
	}

	/** Resolves when all that were added are durable and have their times. */
	async flush(): Promise<void> {
		// A sync under way began before the caller's file was added, so it proves nothing for it.
		while (this.#syncing !== undefined) await this.#syncing;
		if (this.#count === 0) return;
		this.#syncing = this.#sync().finally(() => {
			this.#syncing = undefined;
		});
		await this.#syncing;
	}

	async #sync(): Promise<void> {
		const files = this.#files;
		this.#files = new Map();
		this.#count = 0;
		const areDurable = await this.disk.calls.syncFileSystem(this.copy.fd);
		for (const [path, inFolder] of files) {
			using folder = await openInside(this.copy, path);
			await forEachConcurrently(syncConcurrency, inFolder, async ({ name, mtime }) => {
				const file = folder.at(pathPart(name));
				if (!areDurable) await syncFile(file);
				await setModifiedAt(file, mtime);
			});
		}
	}
}

async function syncFile(path: string | Buffer): Promise<void> {
	const fd = await open(path, readFileFlags);
	try {
		await fsync(fd);
	} finally {
		closeSync(fd);
	}
}

/** Opens a folder of a staged copy. No other process creates links there, so it need not go one folder at a time. */
async function openInside(copy: Folder, path: CopyPath): Promise<Folder> {
	let folder = await openChild(copy, '.', 'path');
	for (const part of partsOf(path)) {
		using before = folder;
		folder = await openChild(before, pathPart(part), 'path');
	}
	return folder;
}

/** The names joined to as few paths as possible for the call. */
function* partsOf(path: CopyPath): Generator<RawName> {
	let part = '';
	for (const name of path) {
		if (part.length + name.length >= maxPathBytes) {
			yield part as RawName;
			part = '';
		}
		part += part === '' ? name : `/${name}`;
	}
	if (part !== '') yield part as RawName;
}
