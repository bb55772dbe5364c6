import type { Database } from '@stowage/database';
import type { RootRecord, StorageProvider } from '@stowage/plugin-api';
import { anonymousOwner, Failure, isFailure, publicRoot } from '@stowage/rules';
import type { Config } from '../../config/schema.js';
import type { Log } from '../../log.js';
import { ensureFolder } from '../storage/folders.js';
import { homesFolder, type Mount } from '../storage/Mounts.js';
import { ClosedStorage } from './ClosedStorage.js';
import { closeAll, defaultOf, missingFrom, mountWithId, type OpenMount } from './openMounts.js';
import type { RootClaims } from './RootClaims.js';
import type { RootDrivers } from './RootDrivers.js';

interface Dependencies {
	drivers: RootDrivers;
	config: Pick<Config, 'storage'>;
	database: Pick<Database, 'roots'>;
	log: Log;
	/** Claims on roots that only one node may use at a time; left out by what does not serve, and where there is one node. */
	claims?: RootClaims | undefined;
	/** Called with each storage that is opened; resolves to the one to be used in its place. */
	wrap?(storage: StorageProvider): StorageProvider;
}

/** The setting of the first root's location. */
export const firstSettings = 'the setting plugins (the options of the storage), or by dataDir where they name no place';

/** Where the default root has the public files of the administrator and of visitors. */
export const unownedFolders = [publicRoot(null), publicRoot(anonymousOwner)];

/** Opens storage roots by their records. One that can’t be opened, or that another node uses, is mounted as a storage that throws why. */
export class RootOpener {
	readonly #dependencies: Dependencies;
	/** Why roots can't be opened, by their names, as the log has it. */
	readonly #loggedReasons = new Map<string, string>();

	constructor(dependencies: Dependencies) {
		this.#dependencies = dependencies;
	}

	/**
	 * Mounts the configured root and then the others that the database knows; `open` are the mounts so far. Resolves to all of them and
	 * their records, in one order. New ones have the folders at their top.
	 */
	async mountAll(
		known: readonly RootRecord[],
		open: readonly OpenMount[],
	): Promise<{ records: RootRecord[]; mounts: OpenMount[] }> {
		const first = this.#configuredOf(known) ?? (await this.#createFirst(known));
		// The first root, whenever it was recorded: others are older if the configuration named another storage before.
		const records = [first, ...known.filter(({ location }) => location !== null)];
		const mounts: OpenMount[] = [];
		for (const record of records)
			mounts.push(await this.mount(record, mountWithId(open, record.rootId), record === first, records));
		this.#dependencies.drivers.closeOthers(records);
		const opened = missingFrom(mounts, open);
		try {
			// Before others see the root: once it counts as ready, its folders are there.
			for (const mount of opened) await this.#createFolders(mount, mount === defaultOf(records, mounts));
		} catch (error) {
			await closeAll(opened);
			throw error;
		}
		return { records, mounts };
	}

	/** The record of the configured root, if the database knows it. */
	#configuredOf(records: readonly RootRecord[]): RootRecord | undefined {
		const { storage } = this.#dependencies.config;
		return records.find(({ driver, location }) => driver === storage && location === null);
	}

	/**
	 * A new database adopts the root at the configured location, which has nothing to do with the `others`. Until it exists, the record
	 * has no id.
	 */
	async #createFirst(others: readonly RootRecord[]): Promise<RootRecord> {
		const { config, database, log } = this.#dependencies;
		const driver = config.storage;
		const unclaimed: RootRecord = { name: driver, rootId: '', driver, location: null, isDefault: false, createdAt: 0 };
		const storage = await this.#open(unclaimed, others);
		if (storage instanceof ClosedStorage) return unclaimed;
		try {
			const { rootId } = storage;
			await database.roots.add({ name: driver, rootId, driver, location: null });
			log.info({ storage: driver, rootId }, 'a storage root was registered in the database');
			return { ...unclaimed, rootId };
		} catch (error) {
			// Another process was first.
			const other = isFailure(error, 'alreadyExists') ? this.#configuredOf(await database.roots.list()) : undefined;
			if (other === undefined) throw error;
			return other;
		} finally {
			await storage.close();
		}
	}

	/**
	 * Where a root is used from now on: `open`, its mount so far, if nothing has changed, else a new one. A root that
	 * can't be opened now is replaced by a storage that throws the reason; the next reload tries again. `records` are all roots.
	 */
	async mount(
		record: RootRecord,
		open: OpenMount | undefined,
		isFirst: boolean,
		records: readonly RootRecord[],
	): Promise<OpenMount> {
		const { name, rootId, location } = record;
		const { claims, log } = this.#dependencies;
		if (open !== undefined && open.location !== location)
			log.info({ root: name, location }, 'the location of a storage root was changed');
		const isOpen = open?.location === location && !(open.storage instanceof ClosedStorage);
		const isOurs = isOpen && (await claims?.refusalOf(open.storage)) === undefined;
		const storage = isOurs ? open.storage : await this.#openClaimed(record, records);
		if (open?.storage === storage && open.name === name) return open;
		return { name, idPrefix: isFirst ? '' : rootId.slice(0, 8), storage, location };
	}

	async #openClaimed(record: RootRecord, records: readonly RootRecord[]): Promise<StorageProvider> {
		const { claims, wrap } = this.#dependencies;
		const known = await claims?.knownRefusalOf(record.rootId);
		if (known !== undefined) return new ClosedStorage(record.rootId, known);
		const storage = await this.#open(record, records);
		claims?.forget(record.rootId);
		const refusal = storage instanceof ClosedStorage ? undefined : await claims?.refusalOf(storage);
		if (refusal !== undefined) {
			await storage.close();
			return new ClosedStorage(record.rootId, refusal);
		}
		return wrap === undefined || storage instanceof ClosedStorage ? storage : wrap(storage);
	}

	async #open(record: RootRecord, records: readonly RootRecord[]): Promise<StorageProvider> {
		const { name, rootId, location } = record;
		try {
			const storage = await this.#dependencies.drivers.open(record, records);
			this.#loggedReasons.delete(name);
			return storage;
		} catch (error) {
			const reason =
				location === null && isFailure(error, 'invalid')
					? new Failure('invalid', `${error.message} Where it lies is said by ${firstSettings}.`)
					: (error as Error);
			if (this.#loggedReasons.get(name) !== reason.message) {
				const details = isFailure(reason) ? { reason: reason.message } : { err: reason };
				this.#dependencies.log.warn({ root: name, ...details }, 'the storage root could not be opened');
			}
			this.#loggedReasons.set(name, reason.message);
			return new ClosedStorage(rootId, reason);
		}
	}

	/** Creates the folders at the top of a root. */
	async #createFolders(mount: Mount, isDefault: boolean): Promise<void> {
		if (mount.storage instanceof ClosedStorage) return;
		const folders = [homesFolder, ...(isDefault ? unownedFolders : [])];
		try {
			for (const path of folders) await ensureFolder(mount.storage, path);
		} catch (error) {
			if (!isFailure(error)) throw error;
			// A disk that is not there yet is no reason not to start: its calls answer 503 until it is.
			this.#dependencies.log.warn({ err: error, root: mount.name }, 'the storage root is not available');
		}
	}
}
