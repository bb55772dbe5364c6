import type { IndexWriter, KnownFolder, StaleMark } from '@stowage/database';
import type { StorageProvider } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';
import { rowsAround, rowsOf, treeAt } from '../marks.js';

/** Folders that are compared in one step. */
const foldersPerStep = 50;

/** A folder is listed at least this often, since a write into an existing file does not change the modified time of its folder. */
const listedEveryMs = 24 * 60 * 60_000;

interface Round {
	rootId: string;
	beganAt: number;
	isFull: boolean;
	/** Whether it is the one that is queued for the root. */
	isQueued: boolean;
	after: number;
}

/**
 * Compares the modified times of all folders with those that they had when they were listed: what differs is stale.
 * One root after another, some folders in each step.
 */
export class FolderCheck {
	/** The roots that have an index. */
	roots: readonly string[] = [];
	/** All roots are compared as soon as possible. */
	isDue = false;
	readonly #now: () => number;
	#round: Round | undefined;
	/** The roots that are compared before their time, each until that has ended: it may be away meanwhile. */
	#queue: string[] = [];
	#requests: { isFull: boolean; left: Set<string>; done: () => void }[] = [];

	constructor(now: () => number) {
		this.#now = now;
	}

	/** The index is a new one, which has no roots yet. */
	restart(): void {
		this.roots = [];
		this.#round = undefined;
	}

	/** Whether a root is still to be compared before its time. */
	get isOwed(): boolean {
		return this.isDue || this.#queue.some((rootId) => this.roots.includes(rootId));
	}

	/** Whether someone waits for the end. */
	get isRequested(): boolean {
		return this.#requests.length > 0;
	}

	/** Resolves when all roots were compared after this call. */
	request(isFull: boolean): Promise<void> {
		return new Promise((resolve) => {
			if (this.roots.length === 0) return resolve();
			this.#round = undefined;
			this.#queue = [...this.roots];
			this.#requests.push({ isFull, left: new Set(this.roots), done: resolve });
		});
	}

	/** Resolves to whether anything was to be done. Throws `unavailable` where the root is away. */
	async step(writer: IndexWriter, mounts: readonly { storage: StorageProvider }[], everyMs: number): Promise<boolean> {
		if (this.isDue) {
			this.isDue = false;
			this.#queue = [...this.roots];
			// What the one under way has passed by may have changed since.
			if (this.#round !== undefined) this.#round.isQueued = false;
		}
		const there = mounts.map(({ storage }) => storage.rootId);
		if (this.#round !== undefined && !there.includes(this.#round.rootId)) this.#round = undefined;
		this.#round ??= await this.#nextRound(writer, there, everyMs);
		if (this.#round === undefined) return false;
		const storage = mounts.find((mount) => mount.storage.rootId === this.#round?.rootId)?.storage;
		if (storage !== undefined) await this.#compare(writer, storage, this.#round);
		return true;
	}

	async #nextRound(writer: IndexWriter, there: readonly string[], everyMs: number): Promise<Round | undefined> {
		const isFull = this.#requests.some((request) => request.isFull);
		const requested = this.#queue.find((rootId) => there.includes(rootId));
		const begun = { beganAt: this.#now(), after: 0 };
		if (requested !== undefined) return { ...begun, rootId: requested, isFull, isQueued: true };
		for (const rootId of there) {
			const checkedAt = await writer.checkedAt(rootId);
			// A clock that was ahead must not put the round off.
			const age = checkedAt === undefined ? 0 : Math.abs(this.#now() - checkedAt);
			if (age >= everyMs) return { ...begun, rootId, isFull: false, isQueued: false };
		}
		return undefined;
	}

	async #compare(writer: IndexWriter, storage: StorageProvider, round: Round): Promise<void> {
		const folders = await writer.folders(round.rootId, round.after, foldersPerStep);
		const stale: StaleMark[] = [];
		let isKnownToBeThere = false;
		for (const folder of folders) {
			try {
				stale.push(...(await compareFolder(storage, folder, round)));
			} catch (error) {
				if (!isFailure(error, 'unavailable')) throw error;
				isKnownToBeThere ||= !(await isRootAway(storage));
				if (!isKnownToBeThere) throw error;
				// One folder that its disk can't read: searches try to, and the others are compared.
				stale.push(rowsOf(folder.path));
			}
		}
		await writer.mark(round.rootId, stale);
		round.after = folders.at(-1)?.id ?? round.after;
		if (folders.length === foldersPerStep || this.#round !== round) return;
		// What was found different is marked, so the rest is as it was when this round began.
		await writer.setChecked(round.rootId, round.beganAt);
		this.#round = undefined;
		if (round.isQueued) this.#queue = this.#queue.filter((rootId) => rootId !== round.rootId);
		for (const request of this.#requests) {
			request.left.delete(round.rootId);
			if (request.left.size === 0) request.done();
		}
		this.#requests = this.#requests.filter(({ left }) => left.size > 0);
	}
}

/** Marks what may have changed in a folder since it was listed. */
async function compareFolder(storage: StorageProvider, folder: KnownFolder, round: Round): Promise<StaleMark[]> {
	const { path, mtime, listedAt } = folder;
	if (round.isFull || mtime === null || Math.abs(round.beganAt - listedAt) > listedEveryMs) return [rowsOf(path)];
	try {
		return (await storage.stat(path)).mtime === mtime ? [] : [rowsOf(path)];
	} catch (error) {
		if (!isFailure(error) || isFailure(error, 'unavailable')) throw error;
		return [rowsAround(path), treeAt(path)];
	}
}

/** Whether the disk of a root, and not only a folder on it, can't be read. */
export async function isRootAway(storage: StorageProvider): Promise<boolean> {
	try {
		await storage.check();
		return false;
	} catch {
		return true;
	}
}
