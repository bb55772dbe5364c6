import { createHash } from 'node:crypto';
import type { Database } from '@stowage/database';
import type { Registry, RootRecord, StorageDriver, StorageProvider } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import type { Config } from '../../config/schema.js';
import type { RootReaders } from '../../leases/RootReaders.js';
import type { Log } from '../../log.js';
import type { Mount, Mounts } from '../storage/Mounts.js';
import { HomeMounts } from './HomeMounts.js';
import { closeAll, defaultOf, missingFrom, mountWithId, type OpenMount } from './openMounts.js';
import type { RootClaims } from './RootClaims.js';
import { RootDrivers } from './RootDrivers.js';
import { RootOpener } from './RootOpener.js';
import { RootProbes } from './RootProbes.js';

interface Dependencies {
	drivers: Registry<StorageDriver>;
	config: Pick<Config, 'storage' | 'dataDir' | 'databaseUrl'>;
	database: Pick<Database, 'roots' | 'homes'>;
	log: Log;
	/** The identity of this process, and whether another one has certainly ended. */
	identity: { readonly name: string; hasEnded(name: string): Promise<boolean> };
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
	/** Claims on roots that only one node may use at a time; left out by what does not serve, and where there is one node. */
	claims?: RootClaims | undefined;
	/** The processes that read the list as well. */
	readers: RootReaders;
	reloadMs?: number;
	/** Called with each storage that is opened; resolves to the one to be used in its place. */
	wrap?(storage: StorageProvider): StorageProvider;
}

/** How often a process reads the list of roots. */
const defaultReloadMs = 2000;

/** The storage roots in the database. The location of the first one is configured; others were added with theirs. */
export class Roots implements Mounts {
	/** On which root each home lies. */
	readonly homes: HomeMounts;
	/** Whether their disks answer. */
	readonly probes: RootProbes;
	readonly #dependencies: Dependencies;
	readonly #drivers: RootDrivers;
	readonly #opener: RootOpener;
	readonly #reloadMs: number;
	#mounts: OpenMount[] = [];
	#records: RootRecord[] = [];
	/** The ids of those that were the first root. */
	#formerFirst: ReadonlySet<string> = new Set();
	/** The digest of the list that was read last. */
	#digest = '';
	#reloading: Promise<void> | undefined;
	#timer: NodeJS.Timeout | undefined;
	#isClosed = false;

	private constructor(dependencies: Dependencies) {
		const { database, log, identity, monotonic } = dependencies;
		this.#dependencies = dependencies;
		this.#reloadMs = dependencies.reloadMs ?? defaultReloadMs;
		this.#drivers = new RootDrivers(dependencies);
		this.#opener = new RootOpener({ ...dependencies, drivers: this.#drivers });
		this.probes = new RootProbes(monotonic);
		const { homes } = database;
		this.homes = new HomeMounts({ roots: this, homes, log, identity, monotonic, reloadMs: this.#reloadMs });
	}

	/** Opens the known roots only, so that an empty mount point is never taken for one. A new database adopts the existing root. */
	static async open(dependencies: Dependencies): Promise<Roots> {
		const roots = new Roots(dependencies);
		try {
			// The plugin that the configuration names for it must be there.
			dependencies.drivers.get(dependencies.config.storage);
			await roots.reload();
			roots.#timer = setInterval(() => void roots.reloadInBackground(), roots.#reloadMs).unref();
			return roots;
		} catch (error) {
			await roots.close();
			throw error;
		}
	}

	get default(): Mount {
		return defaultOf(this.#records, this.#mounts);
	}

	get first(): Mount {
		return this.#mounts[0] as Mount;
	}

	all(): readonly Mount[] {
		return this.#mounts;
	}

	/** The roots in the database, as last read. */
	get records(): readonly RootRecord[] {
		return this.#records;
	}

	/** The root of that name. Throws `notFound`. */
	async named(name: string): Promise<Mount> {
		await this.reload();
		return this.withId(this.record(name).rootId);
	}

	/** The root with this id. Throws `notFound`. */
	withId(rootId: string): Mount {
		const mount = this.mountOf(rootId);
		if (mount === undefined) throw new Failure('notFound', 'There is no such storage root any more.');
		return mount;
	}

	/** The root with this id, if it is known. */
	mountOf(rootId: string | undefined): OpenMount | undefined {
		return mountWithId(this.#mounts, rootId);
	}

	/** Whether it is the root that was the first one before the configuration named another storage. */
	wasFirst(rootId: string): boolean {
		return this.#formerFirst.has(rootId);
	}

	/** Throws `notFound`. */
	record(name: string): RootRecord {
		const record = this.#records.find((each) => each.name === name);
		if (record === undefined) throw new Failure('notFound', `There is no storage root ${name}.`);
		return record;
	}

	/** Throws `invalid` where no plugin offers it. */
	driver(name: string): StorageDriver {
		return this.#drivers.named(name);
	}

	/** The names of the processes that serve and have not read the list of roots as it is now. */
	async lateReaders(): Promise<string[]> {
		await this.reload();
		return this.#dependencies.readers.withOtherRoots(this.#digest);
	}

	/** Reads the list of roots from the database, and opens the new ones. */
	reload(): Promise<void> {
		this.#reloading ??= this.#reload().finally(() => {
			this.#reloading = undefined;
		});
		return this.#reloading;
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		clearInterval(this.#timer);
		this.homes.moves.close();
		this.#dependencies.claims?.close();
		await this.#reloading?.catch(() => {
			// The caller has got the error; for other callers it does not matter any more.
		});
		this.#drivers.closeOthers([]);
		await closeAll(this.#mounts);
	}

	/** Reloads without a caller who waits: a failure is logged, and the next reload tries again. */
	async reloadInBackground(): Promise<void> {
		try {
			await this.reload();
		} catch (error) {
			this.#dependencies.log.warn({ err: error }, 'the storage roots could not be reloaded');
		}
	}

	async #reload(): Promise<void> {
		const known = await this.#dependencies.database.roots.list();
		const { records, mounts } = await this.#opener.mountAll(known, this.#mounts);
		if (this.#isClosed) return closeAll(missingFrom(mounts, this.#mounts));
		const removed = missingFrom(this.#mounts, mounts);
		this.#mounts = mounts;
		this.#records = records;
		this.#formerFirst = new Set(known.filter((each) => !records.includes(each)).map(({ rootId }) => rootId));
		const digest = digestOf(known);
		if (digest !== this.#digest) {
			this.#digest = digest;
			await this.#dependencies.readers.noteRoots(digest);
		}
		if (removed.length > 0) this.homes.clearCache();
		await closeAll(removed);
		if (mounts.length > 1) await this.homes.moves.poll();
	}
}

/** Changes with what a process has to know of the roots. */
function digestOf(records: readonly RootRecord[]): string {
	const facts = records.map(({ rootId, driver, location, isDefault }) => [rootId, driver, location, isDefault]);
	return createHash('sha256').update(JSON.stringify(facts.sort())).digest('base64url');
}
