import path from 'node:path';
import type { RootRecord, StorageProvider } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import type { Config } from '../../config/schema.js';
import { inTime } from '../../limits/inTime.js';
import type { Log } from '../../log.js';
import { assertApart, assertUnreserved } from './assertApart.js';
import { assertRootMayMake } from './assertRootMayMake.js';
import { closeLate } from './RootDrivers.js';
import type { Roots } from './Roots.js';
import { reservedFolders } from './reservedFolders.js';

/** The locations that an administrator gives for roots. Each look at one throws `unavailable` where it takes too long. */
export class RootLocations {
	readonly #roots: Roots;
	readonly #config: Pick<Config, 'dataDir' | 'databaseUrl' | 'storage'>;
	readonly #log: Log;
	readonly #answerMs: number;

	constructor(roots: Roots, config: Pick<Config, 'dataDir' | 'databaseUrl' | 'storage'>, log: Log, answerMs: number) {
		this.#roots = roots;
		this.#config = config;
		this.#log = log;
		this.#answerMs = answerMs;
	}

	/** Opens the root there, or a new one in an empty folder. Throws `invalid` and `forbidden` where none may lie. */
	async open(location: string, driver: string): Promise<StorageProvider> {
		await this.answered(location, this.#assertApart(location));
		await this.answered(location, assertRootMayMake(location));
		const opening = this.#roots.driver(driver).open(undefined, location);
		try {
			return await this.answered(location, opening);
		} catch (error) {
			void closeLate(opening, location, this.#log);
			throw error;
		}
	}

	/** Throws `conflict` if another root than this one lies there, or none, and `invalid` where none may; changes nothing there. */
	async assertHolds(location: string, record: RootRecord): Promise<void> {
		await this.answered(location, this.#assertApart(location, record.rootId));
		await this.answered(location, assertLiesAt(this.#roots, location, record));
	}

	/** Throws `unavailable` where a look at a location takes too long: a disk that hangs, also that of another root, never answers. */
	answered<T>(location: string, look: Promise<T>): Promise<T> {
		const late = `${location}, or the disk of another storage root, did not answer within ${this.#answerMs / 1000} s.`;
		return inTime(look, this.#answerMs, new Failure('unavailable', late));
	}

	/** Throws `invalid` if a location is inside another root, or the other way round, or is no place for one. */
	async #assertApart(location: string, rootId?: string): Promise<void> {
		const others = this.#roots.records.flatMap((record) =>
			record.location === null || record.rootId === rootId ? [] : [{ name: record.name, location: record.location }],
		);
		// Only its plugin knows the place of the first root, also while that is away; one that wraps another may not say it.
		const { folder = path.join(this.#config.dataDir, 'files') } = this.#roots.driver(this.#config.storage);
		await assertApart(location, [...others, { name: this.#roots.first.name, location: folder }]);
		await assertUnreserved(location, reservedFolders(this.#config));
	}
}

async function assertLiesAt(roots: Roots, location: string, { name, rootId, driver }: RootRecord): Promise<void> {
	const opener = roots.driver(driver);
	if (opener.identify === undefined) {
		const storage = await opener.open(rootId, location);
		return storage.check().finally(() => storage.close());
	}
	const found = await opener.identify(location);
	if (found === rootId) return;
	const known = roots.records.find((record) => record.rootId === found);
	throw new Failure(
		'conflict',
		found === undefined
			? `There is no storage root in ${location}. Mount the disk of ${name} there first: it carries ${rootId}.`
			: `In ${location} lies ${known?.name ?? 'another storage root'} (${found}), and not ${name} (${rootId}).`,
	);
}
