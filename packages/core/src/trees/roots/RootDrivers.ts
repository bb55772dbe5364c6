import type { Registry, RootRecord, StorageDriver, StorageProvider } from '@stowage/plugin-api';
import { Failure, isFailure } from '@stowage/rules';
import { isAbove } from '../../config/access/whyOthersMayWrite.js';
import type { Config } from '../../config/schema.js';
import { inTime } from '../../limits/inTime.js';
import type { Log } from '../../log.js';
import { assertFirstApart } from './assertApart.js';
import { assertRootMayMake } from './assertRootMayMake.js';
import { serverFolders } from './reservedFolders.js';

interface Dependencies {
	drivers: Registry<StorageDriver>;
	config: Pick<Config, 'dataDir' | 'databaseUrl'>;
	log: Log;
	/** For how long a disk is waited for. */
	openingMs?: number;
}

/** For how long the start waits for disks that are looked at in order to compare their places. */
const comparisonMs = 5000;

/** For how long the start, or a reload, waits for a disk: one that hangs never answers. It goes on meanwhile, once. */
const defaultOpeningMs = 10_000;

/** Opens the storages of roots by their drivers, each in time: a disk that hangs is asked once, and used once it has answered. */
export class RootDrivers {
	readonly #dependencies: Dependencies;
	/** Those that are being opened, or were too late for who waited: each keeps a thread while its disk hangs. */
	readonly #opening = new Map<string, Promise<StorageProvider>>();

	constructor(dependencies: Dependencies) {
		this.#dependencies = dependencies;
	}

	/** Throws `invalid` where no plugin offers it. */
	named(name: string): StorageDriver {
		const { drivers } = this.#dependencies;
		const driver = drivers.find(name);
		if (driver !== undefined) return driver;
		throw new Failure(
			'invalid',
			`No plugin offers the storage ${name} (offered: ${[...drivers.all().keys()].join(', ')}). Install the one that does and name it below plugins.`,
		);
	}

	/** Throws `unavailable` where that takes too long, and then until it is open, or has failed. `records` are all roots. */
	async open(record: RootRecord, records: readonly RootRecord[]): Promise<StorageProvider> {
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

	/** Closes what was opened too late for roots that are no longer among these. */
	closeOthers(records: readonly RootRecord[]): void {
		const known = new Set(records.map(keyOf));
		for (const [key, opening] of this.#opening) {
			if (known.has(key)) continue;
			this.#opening.delete(key);
			void closeLate(opening, key, this.#dependencies.log);
		}
	}

	async #openNow({ rootId, driver, location }: RootRecord, records: readonly RootRecord[]): Promise<StorageProvider> {
		const id = rootId === '' ? undefined : rootId;
		const opener = this.named(driver);
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
