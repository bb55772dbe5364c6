import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '@stowage/database';
import type { Registry, RootRecord, StorageDriver, StorageProvider } from '@stowage/plugin-api';
import { Failure, homeRoot, isFailure, joinPath, parsePath, type StoragePath } from '@stowage/rules';
import type { Config } from '../config/schema.js';
import type { Log } from '../log.js';
import { ensureFolder } from './folders.js';
import type { Mount, Mounts } from './MountedStorage.js';

interface Dependencies {
	drivers: Registry<StorageDriver>;
	config: Pick<Config, 'storage'>;
	database: Pick<Database, 'roots' | 'homes'>;
	log: Log;
	/** Milliseconds of a clock that nobody sets. */
	monotonic(): number;
	reloadMs?: number;
}

/** For so long a process may take a home for where it was: whoever moves one waits longer before it is used elsewhere. */
export const homeCacheMs = 1000;

/** How often a process asks which roots there are. */
const defaultReloadMs = 2000;

/** A root as the administrator sees it. */
export interface RootState {
	name: string;
	rootId: string;
	driver: string;
	location: string | null;
	isDefault: boolean;
	/** Why it can't be used right now; null for one that can. */
	fault: string | null;
	/** Bytes; null where that can't be told. */
	freeBytes: number | null;
	totalBytes: number | null;
}

/** The storage roots that the database knows. The first one is where the configuration has it; others were added with the place where they lie. */
export class Roots implements Mounts {
	readonly #dependencies: Dependencies;
	#mounts: Mount[] = [];
	#records: RootRecord[] = [];
	readonly #homes = new Map<string, { mount: Mount; until: number }>();
	#reloading: Promise<void> | undefined;
	#timer: NodeJS.Timeout | undefined;
	#isClosed = false;

	private constructor(dependencies: Dependencies) {
		this.#dependencies = dependencies;
	}

	/** Opens those that are known and no others, so that an empty mount point is never taken for one. A new database takes over the root that it meets. */
	static async open(dependencies: Dependencies): Promise<Roots> {
		const roots = new Roots(dependencies);
		try {
			await roots.#openFirst();
			await roots.reload();
			roots.#timer = setInterval(() => void roots.#reloadLater(), roots.#reloadMs).unref();
			return roots;
		} catch (error) {
			await roots.close();
			throw error;
		}
	}

	get default(): Mount {
		const record = this.#records.find(({ isDefault }) => isDefault);
		return this.#mountOf(record?.rootId) ?? this.first;
	}

	get first(): Mount {
		return this.#mounts[0] as Mount;
	}

	all(): readonly Mount[] {
		return this.#mounts;
	}

	ofHome(username: string): Mount | Promise<Mount> {
		if (this.#mounts.length === 1 && this.#records.length === 1) return this.first;
		const known = this.#homes.get(username);
		if (known !== undefined && known.until > this.#dependencies.monotonic()) return known.mount;
		return this.#findHome(username);
	}

	async homesOn(mount: Mount): Promise<readonly string[]> {
		return this.#dependencies.database.homes.list(mount.storage.rootId);
	}

	async placeHome(username: string): Promise<void> {
		if (this.#mounts.length === 1) return;
		const { homes } = this.#dependencies.database;
		if ((await homes.find(username)) !== undefined) return;
		const isOnFirst = await isThere(this.first.storage, username);
		await homes.place(username, (isOnFirst ? this.first : this.default).storage.rootId);
		this.#homes.delete(username);
	}

	async placeHomeWith(username: string, newName: string): Promise<void> {
		const { homes } = this.#dependencies.database;
		const known = await homes.find(username);
		if (known !== undefined) await homes.set(newName, known);
		else if (await isThere(this.first.storage, username)) await homes.set(newName, this.first.storage.rootId);
		this.#homes.delete(newName);
	}

	/** Notes on which root a home that is not there yet shall be made. Throws `notFound` for an unknown root and `alreadyExists` where the home is elsewhere. */
	async placeHomeOn(username: string, name: string): Promise<void> {
		const { rootId } = this.#record(name);
		const isOnFirst = rootId !== this.first.storage.rootId && (await isThere(this.first.storage, username));
		if (isOnFirst || (await this.#dependencies.database.homes.place(username, rootId)) !== rootId) {
			throw new Failure('alreadyExists', `There is a home of ${username} on another root.`);
		}
		this.#homes.delete(username);
	}

	/** Asks the database which roots there are, and opens those that are new. */
	reload(): Promise<void> {
		this.#reloading ??= this.#reload().finally(() => {
			this.#reloading = undefined;
		});
		return this.#reloading;
	}

	async list(): Promise<RootState[]> {
		await this.reload();
		return Promise.all(
			this.#records.map(async ({ name, rootId, driver, location }) => {
				const mount = this.#mountOf(rootId);
				const state = { name, rootId, driver, location, isDefault: mount === this.default };
				return { ...state, ...(mount === undefined ? unopened : await stateOf(mount.storage)) };
			}),
		);
	}

	/** Takes over what lies there, or makes a new root where nothing does. Resolves when every process knows it. */
	async add(name: string, driver: string, location: string): Promise<void> {
		if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) {
			throw new Failure('invalidName', 'The name of a root has 1 to 64 letters, digits, dots, dashes or underscores.');
		}
		await this.reload();
		if (this.#records.some((record) => record.name === name))
			throw new Failure('alreadyExists', `There is a storage root ${name} already.`);
		const storage = await this.#driver(driver).open(undefined, location);
		try {
			const known = this.#records.find(({ rootId }) => rootId === storage.rootId);
			if (known !== undefined) throw new Failure('alreadyExists', `That is the storage root ${known.name}.`);
			await ensureFolder(storage, parsePath('users'));
			await this.#dependencies.database.roots.add({ name, rootId: storage.rootId, driver, location });
		} finally {
			await storage.close();
		}
		// A process that did not know of it would take homes that are placed there for homes on its only root.
		await this.#untilAllKnow();
	}

	async rename(name: string, newName: string): Promise<void> {
		await this.#dependencies.database.roots.rename(name, newName);
		await this.reload();
	}

	/** New homes are made there from now on. Throws `conflict` while files that belong to no user lie on the root that was it. */
	async setDefault(name: string): Promise<void> {
		await this.reload();
		const { storage } = this.#mountOf(this.#record(name).rootId) ?? this.first;
		const before = this.default.storage;
		if (storage === before) return;
		const formerName = this.default.name;
		await assertNoPublicFiles(before, formerName);
		await this.#dependencies.database.roots.setDefault(name);
		await this.#untilAllKnow();
		try {
			// Somebody may have uploaded to it until now.
			await assertNoPublicFiles(before, formerName);
		} catch (error) {
			await this.#dependencies.database.roots.setDefault(formerName);
			await this.reload();
			throw error;
		}
	}

	/** Forgets a root; its files stay. Throws `conflict` for the first one, the default one and one that holds homes. */
	async remove(name: string): Promise<void> {
		await this.reload();
		const { rootId } = this.#record(name);
		if (rootId === this.first.storage.rootId)
			throw new Failure('conflict', `${name} is the root of the configuration.`);
		if (rootId === this.default.storage.rootId) throw new Failure('conflict', `${name} is the default root.`);
		await this.#dependencies.database.roots.remove(name);
		await this.reload();
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		clearInterval(this.#timer);
		await this.#reloading?.catch(() => {});
		await Promise.all(this.#mounts.map(({ storage }) => storage.close()));
	}

	get #reloadMs(): number {
		return this.#dependencies.reloadMs ?? defaultReloadMs;
	}

	async #untilAllKnow(): Promise<void> {
		await this.reload();
		await wait(2 * this.#reloadMs);
	}

	async #reloadLater(): Promise<void> {
		try {
			await this.reload();
		} catch (error) {
			this.#dependencies.log.warn({ err: error }, 'the storage roots could not be read again');
		}
	}

	async #openFirst(): Promise<void> {
		const { config, database, log } = this.#dependencies;
		const records = await database.roots.list();
		const known = records.find(({ driver, location }) => driver === config.storage && location === null);
		const storage = await this.#driver(config.storage).open(known?.rootId);
		this.#mounts = [{ name: known?.name ?? config.storage, tag: '', storage }];
		if (known !== undefined) return;
		const { rootId } = storage;
		await database.roots.add({ name: config.storage, rootId, driver: config.storage, location: null });
		log.info({ storage: config.storage, rootId }, 'this storage root belongs to this database from now on');
	}

	async #reload(): Promise<void> {
		const { database, config } = this.#dependencies;
		const records = (await database.roots.list()).filter(
			({ driver, location }) => location !== null || driver === config.storage,
		);
		const mounts: Mount[] = [];
		for (const { name, rootId, driver, location } of records) {
			const open = this.#mountOf(rootId);
			if (open !== undefined) mounts.push(open.name === name ? open : { ...open, name });
			else if (location !== null) {
				mounts.push({ name, tag: rootId.slice(0, 8), storage: await this.#driver(driver).open(rootId, location) });
			}
		}
		if (this.#isClosed) {
			const opened = mounts.filter(({ storage }) => this.#mountOf(storage.rootId) === undefined);
			await Promise.all(opened.map(({ storage }) => storage.close()));
			return;
		}
		const gone = this.#mounts.filter(({ storage }) => !mounts.some((mount) => mount.storage === storage));
		this.#mounts = mounts;
		this.#records = records;
		if (gone.length > 0) this.#homes.clear();
		await Promise.all(gone.map(({ storage }) => storage.close()));
	}

	async #findHome(username: string): Promise<Mount> {
		const rootId = await this.#dependencies.database.homes.find(username);
		let mount = rootId === undefined ? this.first : this.#mountOf(rootId);
		if (mount === undefined) {
			await this.reload();
			mount = this.#mountOf(rootId);
		}
		if (mount === undefined) throw new Failure('unavailable', 'The disk of these files is not known to this server.');
		this.#homes.delete(username);
		this.#homes.set(username, { mount, until: this.#dependencies.monotonic() + homeCacheMs });
		if (this.#homes.size > mostHomesCached) this.#homes.delete(this.#homes.keys().next().value as string);
		return mount;
	}

	#mountOf(rootId: string | undefined): Mount | undefined {
		return this.#mounts.find(({ storage }) => storage.rootId === rootId);
	}

	#record(name: string): RootRecord {
		const record = this.#records.find((each) => each.name === name);
		if (record === undefined) throw new Failure('notFound', `There is no storage root ${name}.`);
		return record;
	}

	#driver(name: string): StorageDriver {
		return this.#dependencies.drivers.get(name);
	}
}

const mostHomesCached = 10_000;

/** The trees of the default root. */
const treesOfNobody = ['Public', 'users/anonymous'].map((text) => parsePath(text));

async function assertNoPublicFiles(storage: StorageProvider, name: string): Promise<void> {
	for (const path of treesOfNobody) {
		if (await holdsFiles(storage, path)) {
			throw new Failure(
				'conflict',
				`There are files of no user on ${name}: move what lies in ${path} to the new root first.`,
			);
		}
	}
}

const unopened = { fault: 'It could not be opened.', freeBytes: null, totalBytes: null };

async function stateOf(storage: StorageProvider): Promise<Pick<RootState, 'fault' | 'freeBytes' | 'totalBytes'>> {
	try {
		await storage.check();
		return { fault: null, freeBytes: await storage.freeSpace(), totalBytes: await storage.totalSpace() };
	} catch (error) {
		if (!isFailure(error)) throw error;
		return { fault: error.message, freeBytes: null, totalBytes: null };
	}
}

async function isThere(storage: StorageProvider, username: string): Promise<boolean> {
	try {
		await storage.stat(homeRoot(username));
		return true;
	} catch (error) {
		if (isFailure(error, 'notFound')) return false;
		throw error;
	}
}

/** Whether any file lies in a folder or below. */
async function holdsFiles(storage: StorageProvider, path: StoragePath): Promise<boolean> {
	try {
		for await (const batch of storage.list(path)) {
			for (const { name, type } of batch) {
				if (type === 'file' || (await holdsFiles(storage, joinPath(path, name)))) return true;
			}
		}
		return false;
	} catch (error) {
		if (isFailure(error, 'notFound')) return false;
		throw error;
	}
}
