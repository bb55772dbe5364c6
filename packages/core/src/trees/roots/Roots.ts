import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '@stowage/database';
import type { HomeMove, Registry, RootRecord, StorageDriver, StorageProvider } from '@stowage/plugin-api';
import { anonymousOwner, Failure, homeRoot, isFailure, parsePath, publicRoot } from '@stowage/rules';
import type { Config } from '../../config/schema.js';
import type { Log } from '../../log.js';
import { ensureFolder } from '../folders.js';
import type { Mount, Mounts } from '../MountedStorage.js';
import { ClosedStorage } from './ClosedStorage.js';

interface Dependencies {
	drivers: Registry<StorageDriver>;
	config: Pick<Config, 'storage' | 'dataDir'>;
	database: Pick<Database, 'roots' | 'homes'>;
	log: Log;
	/** The identity of this process, and whether another one has certainly ended. */
	identity: { readonly name: string; hasEnded(name: string): Promise<boolean> };
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
	reloadMs?: number;
}

/** How long a process may cache the root of a home, unless it knows that the home is being moved. */
const homeCacheMs = 1000;

/** How often a process polls for moves of homes. */
const movePollMs = 200;

/** A process that has not acknowledged moves for this long counts as dead. */
const acknowledgementTimeoutMs = 10_000;

/** How often a process reads the list of roots. */
const defaultReloadMs = 2000;

/** A mount with its location; null for the configured one. */
export interface OpenMount extends Mount {
	readonly location: string | null;
}

/** The setting of the first root's location. */
export const firstSettings = 'the setting plugins (the options of the storage), or by dataDir where they name no place';

/** The storage roots in the database. The location of the first one is configured; others were added with theirs. */
export class Roots implements Mounts {
	readonly #dependencies: Dependencies;
	#mounts: OpenMount[] = [];
	#records: RootRecord[] = [];
	readonly #homes = new Map<string, { mount: Mount; until: number }>();
	/** Homes that are being moved, as far as is known here. */
	#moves: ReadonlyMap<string, HomeMove> = new Map();
	/** Why roots can't be opened, by their names, as the log has it. */
	readonly #loggedReasons = new Map<string, string>();
	/** The number of changes of each home under way in this process. */
	readonly #changes = new Map<string, number>();
	/** Grows with each poll of moves: a look-up of a home that began before may have an older result. */
	#movePolls = 0;
	#moveTimer: NodeJS.Timeout | undefined;
	#reloading: Promise<void> | undefined;
	#timer: NodeJS.Timeout | undefined;
	#isClosed = false;

	private constructor(dependencies: Dependencies) {
		this.#dependencies = dependencies;
	}

	/** Opens the known roots only, so that an empty mount point is never taken for one. A new database adopts the existing root. */
	static async open(dependencies: Dependencies): Promise<Roots> {
		const roots = new Roots(dependencies);
		try {
			// The plugin that the configuration names for it must be there.
			dependencies.drivers.get(dependencies.config.storage);
			await roots.reload();
			roots.#timer = setInterval(() => void roots.#reloadInBackground(), roots.#reloadMs).unref();
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

	ofHome(username: string): Mount | Promise<Mount> {
		if (this.#mounts.length === 1 && this.#records.length === 1) return this.first;
		const known = this.#homes.get(username);
		if (known !== undefined && known.until > this.#dependencies.monotonic()) return known.mount;
		return this.#findHome(username);
	}

	async changing<T>(username: string, work: () => Promise<T>): Promise<T> {
		// Counted before the check: a change that is not counted yet sees that the home is frozen.
		this.#changes.set(username, (this.#changes.get(username) ?? 0) + 1);
		try {
			await this.ofHome(username);
			this.assertChangeable(username);
			return await work();
		} finally {
			const left = (this.#changes.get(username) ?? 1) - 1;
			if (left === 0) this.#changes.delete(username);
			else this.#changes.set(username, left);
		}
	}

	assertChangeable(username: string): void {
		if (!this.#moves.get(username)?.isFrozen) return;
		throw new Failure('locked', 'These files are being moved to another disk. Please try again in a moment.', {
			retryAfter: 2,
		});
	}

	async assertNotMoving(username: string): Promise<void> {
		const { move } = await this.#dependencies.database.homes.findWithMove(username);
		if (move === undefined) return;
		throw new Failure(
			'conflict',
			`The home of ${username} is on its way to another root. Wait until it is there, or end that: stowage job cancel ${move.jobId}`,
		);
	}

	/**
	 * Blocks changes of the home that this run of a job moves, and resolves once all changes of it have ended, in every process. `begunAt` is when the move was recorded, by
	 * the monotonic clock: processes poll for it a little later. Throws `conflict` if another run moves it by now.
	 */
	async blockChanges(runId: string, begunAt: number, signal: AbortSignal): Promise<void> {
		const { monotonic, identity, database } = this.#dependencies;
		const { homes } = database;
		await wait(Math.max(0, begunAt + this.#reloadMs + movePollMs - monotonic()), undefined, { signal });
		if (!(await homes.setFrozen(runId, true))) throw new Failure('conflict', 'Another process moves this home now.');
		const blockedAt = monotonic();
		for (;;) {
			signal.throwIfAborted();
			await this.#pollMoves();
			const processes = await homes.acknowledgements(runId, acknowledgementTimeoutMs);
			const alive = await Promise.all(
				processes.map(async ({ holder, hasStopped, isSilent }) => {
					if (hasStopped || isSilent) return false;
					return holder === identity.name || !(await identity.hasEnded(holder));
				}),
			);
			// A process without an acknowledgement may use a cached root for a moment.
			if (!alive.includes(true) && monotonic() - blockedAt > homeCacheMs) return;
			await wait(movePollMs, undefined, { signal });
		}
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

	async homesOn(mount: Mount): Promise<readonly string[]> {
		return this.#dependencies.database.homes.list(mount.storage.rootId);
	}

	async assignHome(username: string): Promise<void> {
		if (this.#mounts.length === 1) return;
		const { homes } = this.#dependencies.database;
		if ((await homes.find(username)) !== undefined) return;
		const isOnFirst = await hasHome(this.first.storage, username);
		await homes.assign(username, (isOnFirst ? this.first : this.default).storage.rootId);
		this.#homes.delete(username);
	}

	async assignHomeOfRename(username: string, newName: string): Promise<void> {
		const { homes } = this.#dependencies.database;
		const known = await homes.find(username);
		if (known !== undefined) await homes.set(newName, known);
		else if (await hasHome(this.first.storage, username)) await homes.set(newName, this.first.storage.rootId);
		this.#homes.delete(newName);
	}

	/** Records on which root a new home shall be created. Throws `notFound` for an unknown root and `alreadyExists` if the home is elsewhere. */
	async assignHomeTo(username: string, name: string): Promise<void> {
		const { rootId } = this.record(name);
		const isOnFirst = rootId !== this.first.storage.rootId && (await hasHome(this.first.storage, username));
		if (isOnFirst || (await this.#dependencies.database.homes.assign(username, rootId)) !== rootId) {
			throw new Failure('alreadyExists', `There is a home of ${username} on another root.`);
		}
		this.#homes.delete(username);
	}

	/** Resolves when every process has read the list of roots again. */
	async waitForAllProcesses(): Promise<void> {
		await this.reload();
		await wait(2 * this.#reloadMs);
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
		clearTimeout(this.#moveTimer);
		await this.#reloading?.catch(() => {
			// The caller has got the error; for other callers it does not matter any more.
		});
		await closeAll(this.#mounts);
	}

	get #reloadMs(): number {
		return this.#dependencies.reloadMs ?? defaultReloadMs;
	}

	async #reloadInBackground(): Promise<void> {
		try {
			await this.reload();
		} catch (error) {
			this.#dependencies.log.warn({ err: error }, 'the storage roots could not be reloaded');
		}
	}

	async #reload(): Promise<void> {
		const { database, log } = this.#dependencies;
		const known = await database.roots.list();
		const first = this.#configuredOf(known) ?? (await this.#claimFirst());
		// The first root, whenever it was recorded: others are older if the configuration named another storage before.
		const records = [first, ...known.filter(({ location }) => location !== null)];
		const mounts: OpenMount[] = [];
		for (const record of records) {
			const { name, rootId, location } = record;
			const open = this.mountOf(rootId);
			if (open !== undefined && open.location !== location)
				log.info({ root: name, location }, 'the location of a storage root was changed');
			const isOpen = open?.location === location && !(open.storage instanceof ClosedStorage);
			const storage = isOpen ? open.storage : await this.#openOrRefuse(record);
			const isSame = open?.storage === storage && open.name === name;
			mounts.push(isSame ? open : { name, tag: record === first ? '' : rootId.slice(0, 8), storage, location });
		}
		const removed = missingFrom(this.#mounts, mounts);
		const opened = missingFrom(mounts, this.#mounts);
		try {
			// Before others see the root: once it counts as ready, its folders are there.
			for (const mount of opened) await this.#makeFolders(mount, mount === defaultOf(records, mounts));
		} catch (error) {
			await closeAll(opened);
			throw error;
		}
		if (this.#isClosed) return closeAll(opened);
		this.#mounts = mounts;
		this.#records = records;
		if (removed.length > 0) this.#homes.clear();
		await closeAll(removed);
		if (mounts.length > 1) await this.#pollMoves();
	}

	/** The folders at the top of a root. */
	async #makeFolders(mount: Mount, isDefault: boolean): Promise<void> {
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

	#configuredOf(records: readonly RootRecord[]): RootRecord | undefined {
		const { storage } = this.#dependencies.config;
		return records.find(({ driver, location }) => driver === storage && location === null);
	}

	/** A new database adopts the root at the configured location. Until it exists, the record has no id. */
	async #claimFirst(): Promise<RootRecord> {
		const { config, database, log } = this.#dependencies;
		const driver = config.storage;
		const unclaimed: RootRecord = { name: driver, rootId: '', driver, location: null, isDefault: false, createdAt: 0 };
		const storage = await this.#openOrRefuse(unclaimed);
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

	/** A root that can't be opened now is replaced by a storage that throws the reason; the next reload tries again. */
	async #openOrRefuse({ name, rootId, driver, location }: RootRecord): Promise<StorageProvider> {
		try {
			const id = rootId === '' ? undefined : rootId;
			const opener = this.driver(driver);
			const storage = await (location === null ? opener.open(id) : opener.open(id, location));
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

	/** Reads which homes are being moved, and acknowledges them: also that their changes have ended where they are frozen. */
	async #pollMoves(): Promise<void> {
		const { database, identity } = this.#dependencies;
		const moves = await database.homes.listMoves();
		if (this.#isClosed) return;
		this.#movePolls++;
		this.#moves = new Map(moves.map((move) => [move.name, move]));
		const acknowledged = moves.map(({ name, runId, isFrozen }) => {
			this.#homes.delete(name);
			return database.homes.acknowledge(runId, identity.name, isFrozen && !this.#changes.has(name));
		});
		await Promise.all(acknowledged);
		clearTimeout(this.#moveTimer);
		if (moves.length > 0) this.#moveTimer = setTimeout(() => void this.#pollMovesAgain(), movePollMs).unref();
	}

	async #pollMovesAgain(): Promise<void> {
		try {
			await this.#pollMoves();
		} catch (error) {
			// The next reload tries again.
			this.#dependencies.log.warn({ err: error }, 'the moves of homes could not be read from the database');
		}
	}

	async #findHome(username: string): Promise<Mount> {
		const polls = this.#movePolls;
		const { rootId, move } = await this.#dependencies.database.homes.findWithMove(username);
		if (polls === this.#movePolls) this.#setMove(username, move);
		let mount = rootId === undefined ? this.first : this.mountOf(rootId);
		if (mount === undefined) {
			await this.reload();
			mount = this.mountOf(rootId);
		}
		if (mount === undefined) throw new Failure('unavailable', 'The disk of these files is not known to this server.');
		this.#homes.delete(username);
		// While it is being moved each call queries it.
		if (move !== undefined || polls !== this.#movePolls) return mount;
		this.#homes.set(username, { mount, until: this.#dependencies.monotonic() + homeCacheMs });
		if (this.#homes.size > maxHomesCached) this.#homes.delete(this.#homes.keys().next().value as string);
		return mount;
	}

	#setMove(username: string, move: HomeMove | undefined): void {
		if (move === undefined && !this.#moves.has(username)) return;
		const moves = new Map(this.#moves);
		if (move === undefined) moves.delete(username);
		else moves.set(username, move);
		this.#moves = moves;
	}

	/** The root with this id, if it is known. */
	mountOf(rootId: string | undefined): OpenMount | undefined {
		return this.#mounts.find(({ storage }) => storage.rootId === rootId);
	}

	/** Throws `notFound`. */
	record(name: string): RootRecord {
		const record = this.#records.find((each) => each.name === name);
		if (record === undefined) throw new Failure('notFound', `There is no storage root ${name}.`);
		return record;
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

/** The root of new homes: the one that is recorded as such, or the first. */
function defaultOf(records: readonly RootRecord[], mounts: readonly OpenMount[]): OpenMount {
	const rootId = records.find(({ isDefault }) => isDefault)?.rootId;
	return mounts.find(({ storage }) => storage.rootId === rootId) ?? (mounts[0] as OpenMount);
}

async function closeAll(mounts: readonly Mount[]): Promise<void> {
	await Promise.all(mounts.map(({ storage }) => storage.close()));
}

/** The `mounts` whose storage is in none of `others`. */
function missingFrom(mounts: readonly Mount[], others: readonly Mount[]): Mount[] {
	return mounts.filter(({ storage }) => !others.some((other) => other.storage === storage));
}

const maxHomesCached = 10_000;

const homesFolder = parsePath('users');

/** Where the default root has the public files of the administrator and of visitors. */
export const unownedFolders = [publicRoot(null), publicRoot(anonymousOwner)];

/** Whether there is a home of that name on a root. */
export async function hasHome(storage: StorageProvider, username: string): Promise<boolean> {
	try {
		await storage.stat(homeRoot(username));
		return true;
	} catch (error) {
		if (isFailure(error, 'notFound')) return false;
		throw error;
	}
}
