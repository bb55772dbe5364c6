import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import {
	DamagedIndexError,
	type IndexedRoot,
	type IndexReader,
	type SearchIndexFile,
	type StaleMark,
	searchIndexFile,
} from '@stowage/database';
import type { StorageProvider } from '@stowage/plugin-api';
import { Failure, isFailure, PathMap, type StoragePath } from '@stowage/rules';
import { searchFolder } from '../config/dataDir.js';
import type { Config } from '../config/schema.js';
import type { ProcessIdentity } from '../leases/processIdentity.js';
import type { Log } from '../log.js';
import { IndexBuilder } from './building/IndexBuilder.js';
import type { IndexedMounts } from './building/IndexUpdate.js';
import { requestOfBuilder } from './building/requests.js';
import { ChangeJournal } from './ChangeJournal.js';
import { Journals } from './Journals.js';
import { concerns, type RootMark, rowsOf } from './marks.js';
import { notedStorage } from './notedStorage.js';

interface Dependencies {
	config: Pick<Config, 'dataDir' | 'search'>;
	identity: ProcessIdentity;
	log: Log;
	now(): number;
	/** Called with what this process has changed, which other nodes have to read again. */
	onChange?(marks: readonly RootMark[]): void;
}

/** The index could not be read, for the reason in `cause`; not said of the disks that it is about. */
export class UnreadableIndexError extends Error {}

/** What a search reads. Each call throws `UnreadableIndexError`. */
type ScopeReader = Pick<IndexReader, 'has' | 'childFolders' | 'blocks'>;

/** What the index knows of a folder and all below it. */
export interface IndexScope {
	readonly rootId: string;
	readonly reader: ScopeReader;
	/** Since when the index is known to be right, but for what is stale; milliseconds since the epoch. */
	readonly checkedAt: number;
	/** What is to be read from the disk. */
	readonly stale: readonly StaleMark[];
	/** Called once `reader` is not used any more. */
	release(): void;
}

/** The state of a root for the administrator. */
export interface RootIndexState {
	name: string;
	/** `off` by the settings; `none` before its index was begun. */
	state: 'indexed' | 'off' | 'none';
	folders: number;
	names: number;
	/** Folders that wait to be listed again. */
	waiting: number;
	indexedAt: number | null;
}

export interface IndexState {
	bytes: number;
	roots: RootIndexState[];
}

/** Stale folders of a scope that are read from the disk for a search; where more are, all of it is. */
const maxStale = 100;

/** The index of the names in all storage roots: one process over the data folder builds it, all search in it. */
export class SearchIndex {
	readonly #dependencies: Dependencies;
	readonly #folder: string;
	readonly #journal: ChangeJournal;
	readonly #journals: Journals;
	#file: SearchIndexFile | undefined;
	#reader: SharedReader | undefined;
	#builder: IndexBuilder | undefined;
	#beginning: Promise<void> | undefined;
	#hasFailed = false;
	#isClosed = false;

	constructor(dependencies: Dependencies) {
		const { config, identity, log } = dependencies;
		this.#dependencies = dependencies;
		this.#folder = searchFolder(config.dataDir);
		const changes = path.join(this.#folder, 'changes');
		this.#journal = new ChangeJournal(changes, identity.name.replaceAll(' ', '_'), log);
		if (dependencies.onChange !== undefined) this.#journal.onMarks = dependencies.onChange;
		this.#journals = new Journals(changes);
	}

	/** Wraps the storage: each change is noted for the index. */
	noted(storage: StorageProvider): StorageProvider {
		return this.#dependencies.config.search.index ? notedStorage(storage, this.#journal) : storage;
	}

	/** Begins to build in the background, and keeps the index up to date until it is closed. Where the index is turned off it is removed. */
	begin(mounts: IndexedMounts): Promise<void> {
		this.#beginning = this.#begin(mounts);
		return this.#beginning;
	}

	async #begin(mounts: IndexedMounts): Promise<void> {
		const { config, log } = this.#dependencies;
		try {
			if (!config.search.index) return await rm(this.#folder, { recursive: true, force: true });
			const builder = await this.#makeBuilder(mounts);
			if (this.#isClosed) return;
			this.#builder = builder;
			this.#journal.onChange = () => builder.wake();
			builder.begin();
		} catch (error) {
			log.warn({ err: error }, 'there is no search index: searches read the disk');
		}
	}

	/** What is known of a folder of a root; undefined where a search has to read the disk. */
	async scope(rootId: string, folder: StoragePath): Promise<IndexScope | undefined> {
		if (!this.#dependencies.config.search.index || this.#isClosed || this.#journal.hasLost(rootId)) return undefined;
		try {
			const scope = await this.#scope(rootId, folder);
			this.#hasFailed = false;
			return scope;
		} catch (error) {
			// The process that builds may never read what is damaged. One of another version is that of a server which is just being replaced.
			if (error instanceof DamagedIndexError && error.cause !== undefined) this.failed(error);
			else this.#report(error);
			return undefined;
		}
	}

	/** The index was not right about a folder. */
	distrust(rootId: string, folder: StoragePath): void {
		this.note([{ rootId, ...rowsOf(folder) }]);
	}

	/** Notes what a change of somebody else has made stale. */
	note(marks: readonly RootMark[]): void {
		if (this.#dependencies.config.search.index && !this.#isClosed) this.#journal.note(marks);
	}

	/** Requests that the process that builds compares all folders with the disk, in the background. */
	async requestCheck(): Promise<void> {
		// What asks for it may run before the index has begun.
		await mkdir(this.#folder, { recursive: true, mode: 0o700 });
		await requestOfBuilder(this.#folder, 'check');
	}

	/** A reader has failed. */
	failed(error: unknown): void {
		this.#report(error);
		this.#reader?.retire();
		this.#reader = undefined;
		// What is damaged is made anew by the process that writes it.
		if (!isFailure(error)) void this.#requestRebuild().catch(() => {});
	}

	/** Compares all folders with the disk now, each with all its rows where `isFull`. For the process that builds. */
	async check(isFull: boolean): Promise<void> {
		await this.#beginning;
		await this.#builder?.check(isFull);
	}

	/** Resolves when nothing waits to be listed again. For the process that builds. */
	async settled(): Promise<void> {
		await this.#beginning;
		await this.#builder?.settled();
	}

	/** Builds it anew: here and now if no process has it, else by that one in the background. Throws `conflict` where it is turned off. */
	async rebuild(mounts: IndexedMounts): Promise<'built' | 'requested'> {
		if (!this.#dependencies.config.search.index)
			throw new Failure('conflict', 'The search index is turned off by the setting search.index.');
		const builder = await this.#makeBuilder(mounts);
		if (await builder.buildNow()) return 'built';
		await this.#requestRebuild();
		return 'requested';
	}

	async state(mounts: IndexedMounts): Promise<IndexState> {
		const { config } = this.#dependencies;
		const indexed = config.search.index ? await this.#indexedRoots() : [];
		const roots = mounts.all().map(({ name, storage }): RootIndexState => {
			const found = indexed.find(({ rootId }) => rootId === storage.rootId);
			const isOff = !config.search.index || config.search.exclude.includes(name);
			const none = { folders: 0, names: 0, waiting: 0, indexedAt: null };
			if (isOff || found === undefined) return { name, state: isOff ? 'off' : 'none', ...none };
			const { folders, names, stale, checkedAt } = found;
			return { name, state: 'indexed', folders, names, waiting: stale, indexedAt: checkedAt };
		});
		return { bytes: (await this.#file?.size()) ?? 0, roots };
	}

	async #indexedRoots(): Promise<IndexedRoot[]> {
		let shared: SharedReader | undefined;
		try {
			shared = await this.#sharedReader();
			return (await shared?.reader.roots()) ?? [];
		} catch (error) {
			// Its file is being made anew just now, or is damaged and will be.
			this.#report(error);
			return [];
		} finally {
			shared?.release();
		}
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		await this.#beginning;
		await this.#builder?.close();
		this.#journal.close();
		this.#reader?.retire();
		this.#reader = undefined;
	}

	async #scope(rootId: string, folder: StoragePath): Promise<IndexScope | undefined> {
		// In this order: what is applied to the index leaves the journals after that.
		await this.#journals.read();
		const shared = await this.#sharedReader();
		if (shared === undefined) return undefined;
		let isUsed = false;
		try {
			const { reader } = shared;
			const positions = await reader.positions();
			const checkedAt = await reader.checkedAt(rootId);
			if (checkedAt === undefined || (await reader.has(rootId, folder)) !== 'listed') return undefined;
			const waiting = await reader.staleWithin(rootId, folder, maxStale);
			const noted = this.#journals.marks(positions).filter((mark) => mark.rootId === rootId && concerns(mark, folder));
			this.#journals.forget(positions);
			const different = new PathMap([...waiting, ...noted].map((mark) => [`${mark.kind}/${mark.path}`, mark]));
			const stale = [...different.values()];
			const isAllStale = stale.some(
				({ kind, path: at }) => kind === 'tree' && concerns({ kind: 'rows', path: folder }, at),
			);
			if (isAllStale || stale.length > maxStale) return undefined;
			isUsed = true;
			return { rootId, reader: scopeReader(reader), checkedAt, stale, release: () => shared.release() };
		} finally {
			if (!isUsed) shared.release();
		}
	}

	/** The reader of the file that is there now. */
	async #sharedReader(): Promise<SharedReader | undefined> {
		this.#file ??= await searchIndexFile(this.#folder).catch(() => undefined);
		const identity = await this.#file?.identity();
		if (this.#file === undefined || identity === undefined) return undefined;
		if (this.#reader?.identity !== identity) {
			const opened = new SharedReader(identity, await this.#file.read());
			this.#reader?.retire();
			this.#reader = opened;
		}
		return this.#reader.use();
	}

	async #makeBuilder(mounts: IndexedMounts): Promise<IndexBuilder> {
		await mkdir(this.#folder, { recursive: true, mode: 0o700 });
		this.#file ??= await searchIndexFile(this.#folder);
		const { config, identity, log, now } = this.#dependencies;
		return new IndexBuilder({ file: this.#file, folder: this.#folder, mounts, config, identity, log, now });
	}

	#requestRebuild(): Promise<void> {
		return requestOfBuilder(this.#folder, 'rebuild');
	}

	#report(error: unknown): void {
		if (!this.#hasFailed)
			this.#dependencies.log.warn({ err: error }, 'the search index can’t be read: searches read the disk');
		this.#hasFailed = true;
	}
}

function scopeReader(reader: IndexReader): ScopeReader {
	const read = async <T>(reading: Promise<T>): Promise<T> => {
		try {
			return await reading;
		} catch (cause) {
			throw new UnreadableIndexError('The search index could not be read.', { cause });
		}
	};
	return {
		has: (...which) => read(reader.has(...which)),
		childFolders: (...which) => read(reader.childFolders(...which)),
		blocks: (...which) => read(reader.blocks(...which)),
	};
}

/** A reader that is closed once nobody uses it and another one has taken its place. */
class SharedReader {
	#users = 0;
	#isRetired = false;

	constructor(
		readonly identity: string,
		readonly reader: IndexReader,
	) {}

	use(): this {
		this.#users++;
		return this;
	}

	release(): void {
		this.#users--;
		this.#closeIfUnused();
	}

	retire(): void {
		this.#isRetired = true;
		this.#closeIfUnused();
	}

	#closeIfUnused(): void {
		if (this.#isRetired && this.#users === 0) this.reader.close();
	}
}
