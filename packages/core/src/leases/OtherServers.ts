import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { makeFolders, readRegularFile, writeRegularFile } from '@stowage/plugin-api';
import { processesFolder } from '../config/dataDir.js';
import type { Config } from '../config/schema.js';
import { workerCount } from '../config/workers.js';
import type { Log } from '../log.js';
import { type ProcessIdentity, pidOf } from './processIdentity.js';
import type { RootReaders } from './RootReaders.js';

/** Processes whose end can't be found out have read the list of roots after this time, if they live. */
const unknownMs = 5000;

/** More than a digest has. */
const maxDigestBytes = 1024;

/** How long it is known that there are none. */
const knownMs = 100;

interface Dependencies {
	config: Pick<Config, 'dataDir' | 'databaseUrl' | 'workers'>;
	identity: Pick<ProcessIdentity, 'name' | 'hasEnded' | 'canTell'>;
	log: Log;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/**
 * Whether other processes may serve over the same database. Those over an SQLite file are of one machine and have one
 * data folder: each has a file there, so that nobody has to ask the database, with the digest of the list of storage roots that it has
 * read. A database server may always have others.
 */
export class OtherServers implements RootReaders {
	readonly #dependencies: Dependencies;
	readonly #folder: string;
	readonly #file: string;
	/** Once there was another one, there may be. */
	#mayExist: boolean;
	#checkedAt = Number.NEGATIVE_INFINITY;
	#isAnnounced = false;
	#roots = '';
	/** When a process whose end can't be found out was first seen with another list than wanted. */
	readonly #unknownSince = new Map<string, number>();

	constructor(dependencies: Dependencies) {
		const { config, identity } = dependencies;
		this.#dependencies = dependencies;
		this.#folder = processesFolder(config.dataDir);
		this.#file = identity.name.replaceAll(' ', '_');
		this.#mayExist = workerCount(config) > 1 || !config.databaseUrl.startsWith('sqlite:');
	}

	/** Makes this process known, and forgets those that have ended. */
	async announce(): Promise<void> {
		const { config, log } = this.#dependencies;
		if (!config.databaseUrl.startsWith('sqlite:')) return;
		try {
			await makeFolders(this.#folder, 0o750);
			this.#isAnnounced = true;
			await writeRegularFile(path.join(this.#folder, this.#file), this.#roots);
			for (const name of await this.#ended()) await rm(path.join(this.#folder, name), { force: true });
		} catch (error) {
			log.warn(
				{ err: error },
				'other servers over this database can’t be told of this one: quotas are counted as if there were some',
			);
			this.#mayExist = true;
		}
	}

	/** @inheritdoc */
	async noteRoots(digest: string): Promise<void> {
		this.#roots = digest;
		if (!this.#isAnnounced) return;
		try {
			await writeRegularFile(path.join(this.#folder, this.#file), digest);
		} catch (error) {
			this.#dependencies.log.warn({ err: error }, 'commands can’t be told which storage roots this server has read');
		}
	}

	/** @inheritdoc */
	async withOtherRoots(digest: string): Promise<string[]> {
		const late: string[] = [];
		for (const name of this.#names())
			if (name !== this.#file && !(await this.#hasRead(name, digest)))
				late.push(`process ${pidOf(name.replaceAll('_', ' ')) ?? name}`);
		return late;
	}

	mayExist(): boolean {
		const { monotonic } = this.#dependencies;
		if (this.#mayExist || monotonic() - this.#checkedAt < knownMs) return this.#mayExist;
		this.#checkedAt = monotonic();
		try {
			this.#mayExist = this.#names().some((name) => name !== this.#file);
		} catch {
			// What can't be read may name others. `doctor` says so.
			this.#mayExist = true;
		}
		return this.#mayExist;
	}

	async close(): Promise<void> {
		// A command is none: what lies in the place of the folder does not concern it.
		if (!this.#isAnnounced) return;
		await rm(path.join(this.#folder, this.#file), { force: true });
	}

	async #hasRead(file: string, digest: string): Promise<boolean> {
		const { identity, monotonic } = this.#dependencies;
		try {
			const read = await readRegularFile(path.join(this.#folder, file), { maxBytes: maxDigestBytes });
			if (read.toString() === digest) return true;
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
			throw error;
		}
		const name = file.replaceAll('_', ' ');
		if (identity.canTell(name)) return identity.hasEnded(name);
		const since = this.#unknownSince.get(name) ?? monotonic();
		this.#unknownSince.set(name, since);
		return monotonic() - since > unknownMs;
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
