import { readdirSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeFolders } from '@stowage/plugin-api';
import type { Config } from '../config/schema.js';
import { workerCount } from '../config/workers.js';
import type { Log } from '../log.js';
import type { ProcessIdentity } from './processIdentity.js';

/** How long it is known that there are none. */
const knownMs = 100;

interface Dependencies {
	config: Pick<Config, 'dataDir' | 'databaseUrl' | 'workers'>;
	identity: ProcessIdentity;
	log: Log;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/**
 * Whether other processes may serve over the same database. Those over an SQLite file are of one machine and have one
 * data folder: each has a file there, so that nobody has to ask the database. A database server may always have
 * others.
 */
export class OtherServers {
	readonly #dependencies: Dependencies;
	readonly #folder: string;
	readonly #file: string;
	/** Once there was another one, there may be. */
	#mayExist: boolean;
	#checkedAt = Number.NEGATIVE_INFINITY;

	constructor(dependencies: Dependencies) {
		const { config, identity } = dependencies;
		this.#dependencies = dependencies;
		this.#folder = path.join(config.dataDir, 'processes');
		this.#file = identity.name.replaceAll(' ', '_');
		this.#mayExist = workerCount(config) > 1 || !config.databaseUrl.startsWith('sqlite:');
	}

	/** Makes this process known, and forgets those that have ended. */
	async announce(): Promise<void> {
		const { config, log } = this.#dependencies;
		if (!config.databaseUrl.startsWith('sqlite:')) return;
		try {
			await makeFolders(this.#folder, 0o750);
			await writeFile(path.join(this.#folder, this.#file), '', { mode: 0o600 });
			for (const name of await this.#ended()) await rm(path.join(this.#folder, name), { force: true });
		} catch (error) {
			log.warn(
				{ err: error },
				'other servers over this database can’t be told of this one: quotas are counted as if there were some',
			);
			this.#mayExist = true;
		}
	}

	mayExist(): boolean {
		const { monotonic } = this.#dependencies;
		if (this.#mayExist || monotonic() - this.#checkedAt < knownMs) return this.#mayExist;
		this.#checkedAt = monotonic();
		this.#mayExist = this.#names().some((name) => name !== this.#file);
		return this.#mayExist;
	}

	async close(): Promise<void> {
		await rm(path.join(this.#folder, this.#file), { force: true });
	}

	#names(): string[] {
		try {
			return readdirSync(this.#folder);
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
			throw error;
		}
	}

	async #ended(): Promise<string[]> {
		const { identity } = this.#dependencies;
		const ended: string[] = [];
		for (const name of this.#names())
			if (name !== this.#file && (await identity.hasEnded(name.replaceAll('_', ' ')))) ended.push(name);
		return ended;
	}
}
