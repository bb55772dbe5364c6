import type { Database } from '@stowage/database';
import type { Registry, RootRecord, StorageDriver, StorageProvider } from '@stowage/plugin-api';
import { anonymousOwner, Failure, isFailure, publicRoot } from '@stowage/rules';
import { isAbove } from '../../config/access/whyOthersMayWrite.js';
import type { Config } from '../../config/schema.js';
import { inTime } from '../../limits/inTime.js';
import type { Log } from '../../log.js';
import { ensureFolder } from '../storage/folders.js';
import { homesFolder, type Mount } from '../storage/Mounts.js';
import { assertFirstApart } from './assertApart.js';
import { assertRootMayMake } from './assertRootMayMake.js';
import { ClosedStorage } from './ClosedStorage.js';
import type { RootClaims } from './RootClaims.js';
import { serverFolders } from './reservedFolders.js';

interface Dependencies {
	drivers: Registry<StorageDriver>;
	config: Pick<Config, 'storage' | 'dataDir' | 'databaseUrl'>;
	database: Pick<Database, 'roots'>;
	log: Log;
	/** Claims on roots that only one node may use at a time; left out by what does not serve, and where there is one node. */
	claims?: RootClaims | undefined;
	/** Called with each storage that is opened; resolves to the one to be used in its place. */
	wrap?(storage: StorageProvider): StorageProvider;
	/** For how long a disk is waited for. */
	openingMs?: number;
}

/** A mount with its location; null for the configured one. */
export interface OpenMount extends Mount {
	readonly location: string | null;
}

/** For how long the start waits for disks that are looked at in order to compare their places. */
const comparisonMs = 5000;

/** For how long the start, or a reload, waits for a disk: one that hangs never answers. It goes on meanwhile, once. */
const defaultOpeningMs = 10_000;

/** The setting of the first root's location. */
export const firstSettings = 'the setting plugins (the options of the storage), or by dataDir where they name no place';

/** Where the default root has the public files of the administrator and of visitors. */
export const unownedFolders = [publicRoot(null), publicRoot(anonymousOwner)];

/** Opens storage roots by their records. */
export class RootOpener {
	readonly #dependencies: Dependencies;
	/** Why roots can't be opened, by their names, as the log has it. */
	readonly #loggedReasons = new Map<string, string>();
	/** Those that are being opened, or were too late for who waited: each keeps a thread while its disk hangs. */
	readonly #opening = new Map<string, Promise<StorageProvider>>();

	constructor(dependencies: Dependencies) {
		this.#dependencies = dependencies;
	}

	/** The record of the configured root, if the database knows it. */
	configuredOf(records: readonly RootRecord[]): RootRecord | undefined {
		const { storage } = this.#dependencies.config;
		return records.find(({ driver, location }) => driver === storage && location === null);
	}

	/**
	 * A new database adopts the root at the configured location, which has nothing to do with the `others`. Until it exists, the record
	 * has no id.
	 */
	async createFirst(others: readonly RootRecord[]): Promise<RootRecord> {
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
			const other = isFailure(error, 'alreadyExists') ? this.configuredOf(await database.roots.list()) : undefined;
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

	/** Closes what was opened too late for roots that are no longer among these. */
	closeOthers(records: readonly RootRecord[]): void {
		const known = new Set(records.map(keyOf));
		for (const [key, opening] of this.#opening) {
			if (known.has(key)) continue;
			this.#opening.delete(key);
			void closeLate(opening, key, this.#dependencies.log);
		}
	}

	async #open(record: RootRecord, records: readonly RootRecord[]): Promise<StorageProvider> {
		const { name, rootId, location } = record;
		try {
			const storage = await this.#openInTime(record, records);
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

	/** Throws `unavailable` where that takes too long, and then until it is open, or has failed. */
	async #openInTime(record: RootRecord, records: readonly RootRecord[]): Promise<StorageProvider> {
		const key = keyOf(record);
		const pending = this.#opening.get(key);
		const opening = pending ?? this.#openNow(record, records);
		this.#opening.set(key, opening);
		const { openingMs = defaultOpeningMs } = this.#dependencies;
		const late = new Failure('unavailable', `There was no answer within ${openingMs / 1000} s.`);
		try {
			const storage = await inTime(opening, pending === undefined ? openingMs : 0, late);
			this.#opening.delete(key);
			return storage;
		} catch (error) {
			if (error !== late) this.#opening.delete(key);
			throw error;
		}
	}

	async #openNow({ rootId, driver, location }: RootRecord, records: readonly RootRecord[]): Promise<StorageProvider> {
		const id = rootId === '' ? undefined : rootId;
		const opener = this.driver(driver);
		if (location === null && opener.folder !== undefined)
			await this.#assertPlace(opener.folder, records, id === undefined);
		return location === null ? opener.open(id) : opener.open(id, location);
	}

	/**
	 * Throws `invalid` where the first root has to do with another one, or with the server's own folders, and `forbidden` where root must not
	 * make it. Roots that are added were compared by then; the first one is named by a configuration that may have changed since.
	 */
	async #assertPlace(folder: string, records: readonly RootRecord[], isNew: boolean): Promise<void> {
		const { config } = this.#dependencies;
		// Who stays root has examined the data folder before, which may be open to others.
		if (isNew && !isAbove(config.dataDir, folder)) await assertRootMayMake(folder);
		const others = records.flatMap(({ name, location }) => (location === null ? [] : [{ name, location }]));
		const comparison = assertFirstApart(folder, others, serverFolders(config));
		try {
			await inTime(comparison, comparisonMs, new Failure('unavailable', 'The disk of a root does not answer.'));
		} catch (error) {
			// A disk that hangs shows nobody's files to anybody, and must not keep the first root from its users.
			if (!isFailure(error, 'unavailable')) throw error;
		}
	}

	/** Creates the folders at the top of a root. */
	async createFolders(mount: Mount, isDefault: boolean): Promise<void> {
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

	/** Throws `invalid` where no plugin offers it. */
	driver(name: string): StorageDriver {
		const { drivers } = this.#dependencies;
		const driver = drivers.find(name);
		if (driver !== undefined) return driver;
		throw new Failure(
			'invalid',
			`No plugin offers the storage ${name} (offered: ${[...drivers.all().keys()].join(', ')}). Install the one that does and name it below plugins.`,
		);
	}
}

/** Closes a root once it is open: nobody waits for it any more. `root` is what the log calls it. */
export async function closeLate(opening: Promise<StorageProvider>, root: string, log: Log): Promise<void> {
	// Nobody asks any more why it could not be opened.
	const storage = await opening.catch(() => undefined);
	try {
		await storage?.close();
	} catch (error) {
		log.warn({ err: error, root }, 'a storage root that is not used could not be closed');
	}
}

const keyOf = ({ rootId, driver, location }: RootRecord): string => JSON.stringify([rootId, driver, location]);
