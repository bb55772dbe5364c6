import type { Database } from '@stowage/database';
import type { RootStore } from '@stowage/plugin-api';
import { Failure, isValidUsername, parsePath, undefinedIf } from '@stowage/rules';
import type { Config } from '../../config/schema.js';
import type { Log } from '../../log.js';
import { ensureFolder } from '../storage/folders.js';
import { homesOnDisk } from '../storage/listHomes.js';
import type { Mount } from '../storage/Mounts.js';
import {
	assertNoPublicFiles,
	assertNoTrash,
	assertNothingStaged,
	type RemovalStores,
	unassignRemovedHomes,
} from './assertUnused.js';
import { RootLocations } from './RootLocations.js';
import { firstSettings, unownedFolders } from './RootOpener.js';
import type { Roots } from './Roots.js';
import { type RootState, rootStates } from './rootStates.js';
import { waitForReaders } from './waitForReaders.js';

/** How long the disk of a root may take to answer a command: one that slept has to spin up. */
const answerMs = 30_000;

/** The administration of storage roots. */
export class RootAdministration {
	readonly #roots: Roots;
	readonly #store: RootStore;
	readonly #database: RemovalStores;
	readonly #locations: RootLocations;
	readonly #answerMs: number;

	constructor(
		roots: Roots,
		database: RemovalStores & Pick<Database, 'roots'>,
		config: Pick<Config, 'dataDir' | 'databaseUrl' | 'storage'>,
		log: Log,
		answerWithinMs = answerMs,
	) {
		this.#roots = roots;
		this.#store = database.roots;
		this.#database = database;
		this.#locations = new RootLocations(roots, config, log, answerWithinMs);
		this.#answerMs = answerWithinMs;
	}

	async list(): Promise<RootState[]> {
		await this.#roots.reload();
		return rootStates(this.#roots, this.#answerMs);
	}

	/**
	 * Adds an existing root, or creates one in an empty folder. Resolves when every process has loaded it; throws `unavailable`, and adds
	 * nothing, where one has not within 30 s, or a disk does not answer in that time.
	 */
	async add(name: string, driver: string, location: string): Promise<void> {
		if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) {
			throw new Failure('invalidName', 'The name of a root has 1 to 64 letters, digits, dots, dashes or underscores.');
		}
		await this.#roots.reload();
		if (this.#roots.records.some((record) => record.name === name))
			throw new Failure('alreadyExists', `There is a storage root ${name} already.`);
		const storage = await this.#locations.open(location, driver);
		try {
			const known = this.#roots.records.find(({ rootId }) => rootId === storage.rootId);
			if (known !== undefined) throw new Failure('alreadyExists', `That is the storage root ${known.name}.`);
			await this.#locations.answered(location, ensureFolder(storage, parsePath('users')));
			await this.#recordHomes(this.#roots.first);
			await this.#store.add({ name, rootId: storage.rootId, driver, location });
		} finally {
			await storage.close();
		}
		// A process that did not know of it would take homes that are placed there for homes on its only root.
		await waitForReaders(this.#roots, () => this.#store.remove(name));
	}

	/** While the disk of the first root is away, these are known to lie there, also those of accounts that are no more. */
	async #recordHomes({ storage }: Mount): Promise<void> {
		const names = (await undefinedIf(homesOnDisk(storage), 'unavailable')) ?? [];
		await this.#database.homes.assignEach(names.filter(isValidUsername), storage.rootId);
	}

	async rename(name: string, newName: string): Promise<void> {
		await this.#store.rename(name, newName);
		await this.#roots.reload();
	}

	/**
	 * Records the new location of a root, which must have been moved there before. Resolves when every process opens it
	 * there, to whether that changed anything; changes nothing and throws `unavailable` where one has not within 30 s, or a disk does not
	 * answer in that time. Throws `invalid` for the root of the configuration, and `conflict` for a place where this root is not.
	 */
	async relocate(name: string, location: string): Promise<boolean> {
		await this.#roots.reload();
		const record = this.#roots.record(name);
		if (record.location === null) throw new Failure('invalid', `Where ${name} lies is said by ${firstSettings}.`);
		await this.#locations.assertHolds(location, record);
		const { location: former } = record;
		await this.#store.relocate(record.rootId, location);
		await waitForReaders(this.#roots, () => this.#store.relocate(record.rootId, former));
		return former !== location;
	}

	/**
	 * Makes it the root of new homes. Resolves, when every process knows that, to whether it changed anything; changes nothing and throws
	 * `unavailable` where one does not within 30 s, and `conflict` while files without a user are on the former one.
	 */
	async setDefault(name: string): Promise<boolean> {
		await this.#roots.reload();
		const { storage } = this.#roots.mountOf(this.#roots.record(name).rootId) ?? this.#roots.first;
		const before = this.#roots.default.storage;
		if (storage === before) return false;
		const formerName = this.#roots.default.name;
		await assertNoPublicFiles(before, formerName);
		// The administrator may put files there, or share them, before anybody uploads.
		for (const path of unownedFolders) await ensureFolder(storage, path);
		await this.#store.setDefault(name);
		const undo = () => this.#store.setDefault(formerName);
		await waitForReaders(this.#roots, undo);
		try {
			// An upload to it may have finished until now.
			await assertNoPublicFiles(before, formerName);
		} catch (error) {
			await undo();
			await this.#roots.reload();
			throw error;
		}
		return true;
	}

	/**
	 * Removes a root from the database; its files stay. Throws `conflict` for the first one, the default one and one
	 * with homes, unfinished uploads or trash.
	 */
	async remove(name: string): Promise<void> {
		await this.#roots.reload();
		const { rootId } = this.#roots.record(name);
		if (rootId === this.#roots.first.storage.rootId)
			throw new Failure('conflict', `${name} is the root of the configuration.`);
		if (rootId === this.#roots.default.storage.rootId) throw new Failure('conflict', `${name} is the default root.`);
		await assertNothingStaged(this.#database, name, this.#roots.withId(rootId));
		await assertNoTrash(this.#database, name, this.#roots.withId(rootId));
		await unassignRemovedHomes(this.#database, this.#roots.withId(rootId));
		await this.#store.remove(name);
		await this.#roots.reload();
	}
}
