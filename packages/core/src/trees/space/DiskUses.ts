import { AsyncLocalStorage } from 'node:async_hooks';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { makeFolders, readRegularFile, writeRegularFile } from '@stowage/plugin-api';
import { diskUseFolder } from '../../config/dataDir.js';
import type { ProcessIdentity } from '../../leases/processIdentity.js';
import type { Log } from '../../log.js';

/** What the uploads of a client under way still need. */
export interface ClientClaim {
	client: string;
	isStranger: boolean;
	left: number;
}

/** What a process may still write on a disk. */
interface DiskUse {
	/** Bytes that it may write next, and that may not take space on the disk yet. */
	unwritten: number;
	claims: readonly ClientClaim[];
}

/** What a process says of each disk, by the id of its root. */
type Said = Record<string, DiskUse>;

/** How often it is said anew while something is under way, also where nothing has changed: others see how old it is. */
const spacingMs = 1000;

/** A process that has said nothing for so long has stopped, and writes nothing. */
const silentMs = 15_000;

const nothing = { said: {}, at: Number.POSITIVE_INFINITY };

/** The most bytes that are read of another process's file: enough for some thousand clients. */
const maxBytes = 1024 * 1024;

interface Dependencies {
	/** The data folder. */
	dataDir: string;
	identity: Pick<ProcessIdentity, 'name' | 'hasEnded'>;
	mayHaveOthers(): boolean;
	log: Log;
}

/**
 * What the processes over one data folder may still write on each disk. Each that has something under way says so by a
 * file; one that is idle, or has no others, writes none.
 */
export class DiskUses {
	readonly #dependencies: Dependencies;
	readonly #folder: string;
	readonly #own: string;
	readonly #unwritten = new Map<string, () => number>();
	#findClaims: () => Promise<ReadonlyMap<string, readonly ClientClaim[]>> = async () => new Map();
	/** What the file says; empty without one. */
	#said = '';
	#saidAt = Number.NEGATIVE_INFINITY;
	#timer: NodeJS.Timeout | undefined;
	#saying: Promise<void> = Promise.resolve();
	/** One that has not begun. */
	#next: Promise<void> | undefined;
	#isClosed = false;
	/** No request that happens to begin it has to do with it. */
	readonly #inOwnContext = AsyncLocalStorage.snapshot();

	constructor(dependencies: Dependencies) {
		this.#dependencies = dependencies;
		this.#folder = diskUseFolder(dependencies.dataDir);
		this.#own = dependencies.identity.name.replaceAll(' ', '_');
	}

	mayHaveOthers(): boolean {
		return this.#dependencies.mayHaveOthers();
	}

	/** Registers `unwritten`, which returns how many bytes may still be written on a disk. */
	includeDisk(rootId: string, unwritten: () => number): void {
		this.#unwritten.set(rootId, unwritten);
	}

	/** Registers `find`, which resolves to the claims by the ids of the roots. */
	includeClaims(find: () => Promise<ReadonlyMap<string, readonly ClientClaim[]>>): void {
		this.#findClaims = find;
	}

	/** The others hear of it within a second, and until nothing is under way any more. */
	changed(): void {
		if (this.#timer !== undefined || this.#isClosed || !this.mayHaveOthers()) return;
		const waitMs = Math.max(0, this.#saidAt + spacingMs - performance.now());
		this.#inOwnContext(() => {
			this.#timer = setTimeout(() => {
				void this.say().then(() => {
					this.#timer = undefined;
					if (this.#said !== '') this.changed();
				});
			}, waitMs).unref();
		});
	}

	/** The others can know all of it when this resolves. */
	say(): Promise<void> {
		this.#next ??= this.#saying.then(() => {
			this.#next = undefined;
			this.#saying = this.#say().catch((error: unknown) => {
				this.#dependencies.log.warn({ err: error }, 'other processes can’t be told of the uploads under way');
			});
			return this.#saying;
		});
		return this.#next;
	}

	/** What all others have under way on a disk, and when the first of them said so, by the clock of the data folder. */
	async ofOthers(rootId: string): Promise<DiskUse & { saidAt: number }> {
		const all = await Promise.all((await this.#names()).map((name) => this.#read(name)));
		const known = all.flatMap(({ said, at }) => (said[rootId] === undefined ? [] : [{ ...said[rootId], at }]));
		return {
			unwritten: known.reduce((sum, { unwritten }) => sum + unwritten, 0),
			claims: known.flatMap(({ claims }) => claims),
			saidAt: Math.min(...known.map(({ at }) => at)),
		};
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		clearTimeout(this.#timer);
		await this.#saying;
		if (this.#said !== '') await rm(path.join(this.#folder, this.#own), { force: true });
	}

	async #say(): Promise<void> {
		const claims = await this.#findClaims();
		const said: Said = {};
		for (const rootId of new Set([...this.#unwritten.keys(), ...claims.keys()])) {
			const use = { unwritten: this.#unwritten.get(rootId)?.() ?? 0, claims: claims.get(rootId) ?? [] };
			if (use.unwritten > 0 || use.claims.length > 0) said[rootId] = use;
		}
		const text = Object.keys(said).length === 0 ? '' : JSON.stringify(said);
		if (text === '' && this.#said === '') return;
		const file = path.join(this.#folder, this.#own);
		if (text === '') await rm(file, { force: true });
		else {
			await makeFolders(this.#folder, 0o750);
			// Whoever reads sees one of the two whole.
			const next = path.join(this.#folder, `.${this.#own}`);
			await writeRegularFile(next, text);
			await rename(next, file);
		}
		this.#said = text;
		this.#saidAt = performance.now();
	}

	async #names(): Promise<string[]> {
		try {
			return (await readdir(this.#folder)).filter((name) => name !== this.#own && !name.startsWith('.'));
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
			throw error;
		}
	}

	async #read(name: string): Promise<{ said: Said; at: number }> {
		const file = path.join(this.#folder, name);
		try {
			const { mtimeMs } = await stat(file);
			if (await this.#dependencies.identity.hasEnded(name.replaceAll('_', ' '))) {
				await rm(file, { force: true });
				return nothing;
			}
			if (Date.now() - mtimeMs > silentMs) return nothing;
			const said = JSON.parse((await readRegularFile(file, { maxBytes })).toString()) as Said;
			return { said, at: mtimeMs };
		} catch (error) {
			// It has just ended, or has nothing under way any more.
			if ((error as NodeJS.ErrnoException).code === 'ENOENT') return nothing;
			throw error;
		}
	}
}
