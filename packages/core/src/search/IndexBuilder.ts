import { rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { IndexLock, IndexWriter, Relisted, SearchIndexFile, WaitingMark } from '@stowage/database';
import type { StorageProvider } from '@stowage/plugin-api';
import { Failure, isFailure } from '@stowage/rules';
import type { Config } from '../config/schema.js';
import type { ProcessIdentity } from '../leases/processIdentity.js';
import type { Log } from '../log.js';
import { assertDiskSpace } from './diskSpace.js';
import { FolderCheck } from './FolderCheck.js';
import { Journals } from './Journals.js';
import { relist } from './relist.js';

/** The storage roots, as they are now. */
export interface IndexedMounts {
	all(): readonly { readonly name: string; readonly storage: StorageProvider }[];
}

interface Dependencies {
	file: SearchIndexFile;
	folder: string;
	mounts: IndexedMounts;
	config: Pick<Config, 'search'>;
	identity: Pick<ProcessIdentity, 'hasEnded'>;
	log: Log;
	now(): number;
}

/** A file that asks the process that builds the index to do so anew. */
export function rebuildRequest(folder: string): string {
	return path.join(folder, 'rebuild');
}

/** A file that asks it to compare all folders with the disk. */
export function checkRequest(folder: string): string {
	return path.join(folder, 'check');
}

/** How often what other processes note is read. */
const pollMs = 5000;

/** How long after the index was removed it is begun anew. */
const anewMs = 2000;

/** How often the lock is asked for while another process has it. Until then searches read what was noted themselves. */
const lockMs = 10_000;

/** How long changes of this process are collected. Searches read what was noted meanwhile themselves. */
const wakeMs = 500;

/** After an error: a root that is away, a full disk. */
const retryMs = 30_000;

/** Work takes at most this share of the time: while something waits to be listed, and for comparing folders with the disk. */
const listingShare = 0.3;
const checkingShare = 0.03;

/** How long one step takes, about; and how much is written in one transaction. */
const stepMs = 50;
const maxAnswers = 64;
const maxItems = 4000;

/**
 * A folder is listed again when this many times the time that it took has passed, and at least some seconds: into many
 * one file comes after the other, and until then searches read it from the disk.
 */
const restFactor = 100;
const minRestMs = 3000;

/**
 * Builds the index and keeps it up to date, in one process over the data folder: lists what is stale, applies what all
 * processes have noted, and compares folders with the disk now and then. All of it is paced.
 */
export class IndexBuilder {
	readonly #parts: Dependencies;
	readonly #journals: Journals;
	readonly #abort = new AbortController();
	/** Folders that rest, until these times. */
	readonly #resting = new Map<string, number>();
	/** Roots that are away, until these times. */
	readonly #away = new Map<string, number>();
	readonly #check: FolderCheck;
	#running: Promise<void> | undefined;
	#wake: (() => void) | undefined;
	#isWoken = false;
	#cursor = 0;
	#hasFailed = false;
	/** Called when nothing waits. */
	#idle: (() => void)[] = [];
	/** Works as fast as it can. */
	#isUrgent = false;

	constructor(parts: Dependencies) {
		this.#parts = parts;
		this.#journals = new Journals(path.join(parts.folder, 'changes'));
		this.#check = new FolderCheck(parts.now);
	}

	begin(): void {
		this.#running = this.#run().catch((error) => {
			if (!this.#abort.signal.aborted) this.#parts.log.warn({ err: error }, 'the search index is not kept up to date');
		});
	}

	/** This process has changed something. */
	wake(): void {
		this.#isWoken = true;
		this.#wake?.();
	}

	async check(isFull: boolean): Promise<void> {
		const done = this.#check.request(isFull);
		this.wake();
		await done;
	}

	/** Resolves when nothing waits to be listed. */
	async settled(): Promise<void> {
		this.#isUrgent = true;
		this.#resting.clear();
		await new Promise<void>((resolve) => {
			this.#idle.push(resolve);
			this.wake();
		});
		this.#isUrgent = false;
	}

	/** Builds all of it anew. Resolves to whether it did: false where another process has it. */
	async buildNow(): Promise<boolean> {
		const lock = await this.#parts.file.lock();
		if (lock === undefined) return false;
		this.#isUrgent = true;
		try {
			await this.#parts.file.remove();
			const writer = await this.#parts.file.write();
			try {
				await this.#prepare(writer);
				while (await this.#step(writer)) await this.#pause(0);
			} finally {
				await writer.close();
			}
			return true;
		} finally {
			lock.release();
		}
	}

	async close(): Promise<void> {
		this.#abort.abort();
		this.#wake?.();
		await this.#running;
	}

	async #run(): Promise<void> {
		const { signal } = this.#abort;
		while (!signal.aborted) {
			let lock: IndexLock | undefined;
			let isElsewhere = false;
			try {
				lock = await this.#parts.file.lock();
				isElsewhere = lock === undefined;
				if (lock !== undefined) await this.#build();
			} catch (error) {
				if (signal.aborted) return;
				// It may be removed at any time, and is then made anew.
				const isThere = (await this.#parts.file.identity().catch(() => undefined)) !== undefined;
				if (isThere) this.#report(error);
				await this.#pause(isThere ? retryMs : 0);
			} finally {
				lock?.release();
			}
			await this.#pause(isElsewhere ? lockMs : anewMs);
		}
	}

	/** Until it is closed, has to begin anew, or fails. */
	async #build(): Promise<void> {
		const { file, folder } = this.#parts;
		const { signal } = this.#abort;
		const identity = async () => `${await file.identity()}`;
		const writer = await file.write();
		try {
			const own = await identity();
			await this.#prepare(writer);
			while (!signal.aborted) {
				if (await exists(rebuildRequest(folder))) {
					await file.remove();
					await rm(rebuildRequest(folder), { force: true });
				}
				// It may be removed at any time.
				if ((await identity()) !== own) return;
				if (await exists(checkRequest(folder))) {
					await rm(checkRequest(folder), { force: true });
					this.#check.isDue = true;
				}
				const began = performance.now();
				const idle = this.#idle.splice(0);
				const hasWork = await this.#step(writer);
				const isChecking = !hasWork && (await this.#compare(writer));
				this.#hasFailed = false;
				const took = performance.now() - began;
				if (hasWork || isChecking) {
					this.#idle.push(...idle);
					const share = hasWork ? listingShare : checkingShare;
					await this.#pause(this.#isUrgent || this.#check.isRequested ? 0 : took * (1 / share - 1));
					continue;
				}
				for (const done of idle) done();
				await this.#sleep(pollMs);
				if (this.#isWoken && !this.#isUrgent) await this.#pause(wakeMs);
				this.#isWoken = false;
			}
			await writer.setState('end', 'clean');
		} finally {
			await writer.close();
		}
	}

	async #prepare(writer: IndexWriter): Promise<void> {
		// After an unclean end changes may be missing that the system had not written when the power went.
		const wasClean = (await writer.state('end')) === 'clean';
		await writer.setState('end', 'none');
		if (!wasClean) this.#check.isDue = true;
		// It may be a new file, in the place of one that was removed or damaged.
		this.#check.restart();
		await this.#chooseRoots(writer);
		this.#cursor = 0;
	}

	async #chooseRoots(writer: IndexWriter): Promise<void> {
		const mounts = this.#mounts();
		const ids = mounts.map(({ storage }) => storage.rootId);
		if (ids.join() === this.#check.roots.join()) return;
		await writer.keepRoots(ids);
		for (const id of ids) await writer.addRoot(id, this.#parts.now());
		this.#check.roots = ids;
	}

	/** Those that have an index. */
	#mounts() {
		const { mounts, config } = this.#parts;
		return mounts.all().filter(({ name, storage }) => storage.rootId !== '' && !config.search.exclude.includes(name));
	}

	/** Applies what was noted, and lists some of what is stale. Resolves to whether there may be more. */
	async #step(writer: IndexWriter): Promise<boolean> {
		await this.#chooseRoots(writer);
		await this.#applyJournals(writer);
		const page = await writer.waiting(this.#cursor, maxAnswers);
		const isLast = page.length < maxAnswers;
		const answers: Relisted[] = [];
		const began = performance.now();
		let items = 0;
		for (const mark of page) {
			this.#cursor = mark.n;
			const answer = await this.#answer(mark);
			if (answer === undefined) continue;
			answers.push(answer);
			items += answer.kind === 'listed' ? answer.items.length : 0;
			if (this.#abort.signal.aborted) break;
			if (items >= maxItems || (performance.now() - began > stepMs && !this.#isUrgent)) break;
		}
		if (answers.length > 0) {
			await assertDiskSpace(this.#parts.folder);
			await writer.write(answers);
		}
		if (isLast && this.#cursor === (page.at(-1)?.n ?? this.#cursor)) {
			this.#cursor = 0;
			// Those that it passed over rest.
			return answers.length > 0;
		}
		return true;
	}

	/** Undefined for what has to rest. */
	async #answer(mark: WaitingMark): Promise<Relisted | undefined> {
		const began = performance.now();
		const key = `${mark.rootId}/${mark.path}`;
		if ((this.#resting.get(key) ?? 0) > began || (this.#away.get(mark.rootId) ?? 0) > began) return undefined;
		const storage = this.#mounts().find((each) => each.storage.rootId === mark.rootId)?.storage;
		if (storage === undefined) return undefined;
		try {
			const answer = await relist(storage, mark);
			this.#rest(key, performance.now() - began);
			return answer;
		} catch (error) {
			if (isFailure(error, 'unavailable')) this.#away.set(mark.rootId, began + retryMs);
			else {
				this.#report(error);
				this.#resting.set(key, began + retryMs);
			}
			return undefined;
		}
	}

	#rest(key: string, took: number): void {
		const now = performance.now();
		if (!this.#isUrgent) this.#resting.set(key, now + Math.max(minRestMs, restFactor * took));
		if (this.#resting.size < 10_000) return;
		for (const [each, until] of this.#resting) if (until < now) this.#resting.delete(each);
	}

	async #applyJournals(writer: IndexWriter): Promise<void> {
		const { folder, identity } = this.#parts;
		await this.#journals.read();
		const positions = await writer.positions();
		const pending = this.#journals.pending(positions);
		for (const { file, position, marks, open, isClosed } of pending) {
			const hasEnded = isClosed || (await this.#hasEnded(file, identity));
			const all = hasEnded ? [...marks, ...open] : marks;
			if (position > (positions.get(file) ?? 0) && (all.length > 0 || hasEnded))
				await writer.apply(file, position, all);
			if (!hasEnded) continue;
			await rm(path.join(folder, 'changes', file), { force: true });
			await writer.forgetJournal(file);
		}
		// A file that was removed with the index, or by another builder.
		const files = new Set(pending.map(({ file }) => file));
		for (const file of positions.keys()) if (!files.has(file)) await writer.forgetJournal(file);
		this.#journals.forget(await writer.positions());
	}

	/** Whether the process that writes this journal has certainly ended. */
	async #hasEnded(file: string, identity: Pick<ProcessIdentity, 'hasEnded'>): Promise<boolean> {
		const process = file.slice(0, file.lastIndexOf('.')).replaceAll('_', ' ');
		if (await identity.hasEnded(process)) return true;
		try {
			const { mtimeMs } = await stat(path.join(this.#parts.folder, 'changes', file));
			// Of a machine that was started since then no process is left. Another machine would have its own data folder.
			return mtimeMs < Date.now() - os.uptime() * 1000;
		} catch {
			return false;
		}
	}

	/** Compares some folders with the disk, if that is due. Resolves to whether it did. */
	async #compare(writer: IndexWriter): Promise<boolean> {
		const mounts = this.#mounts().filter(({ storage }) => (this.#away.get(storage.rootId) ?? 0) <= performance.now());
		try {
			return await this.#check.step(writer, mounts, this.#parts.config.search.checkEvery);
		} catch (error) {
			if (!isFailure(error, 'unavailable')) throw error;
			for (const { storage } of mounts)
				if (await isAway(storage)) this.#away.set(storage.rootId, performance.now() + retryMs);
			return false;
		}
	}

	/** Until something changes, or this time has passed. */
	async #sleep(ms: number): Promise<void> {
		if (this.#isWoken || this.#abort.signal.aborted) return;
		const timer = new AbortController();
		await Promise.race([
			new Promise<void>((resolve) => {
				this.#wake = resolve;
			}),
			wait(ms, undefined, { ref: false, signal: timer.signal }).catch(() => {}),
		]);
		this.#wake = undefined;
		timer.abort();
	}

	async #pause(ms: number): Promise<void> {
		await wait(ms, undefined, { ref: false, signal: this.#abort.signal }).catch(() => {});
	}

	#report(error: unknown): void {
		const isExpected = error instanceof Failure;
		if (!this.#hasFailed)
			this.#parts.log.warn(
				isExpected ? { reason: error.message } : { err: error },
				'the search index can’t be written',
			);
		this.#hasFailed = true;
	}
}

async function isAway(storage: StorageProvider): Promise<boolean> {
	try {
		await storage.check();
		return false;
	} catch {
		return true;
	}
}

async function exists(file: string): Promise<boolean> {
	return stat(file).then(
		() => true,
		() => false,
	);
}
