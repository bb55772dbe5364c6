import { setTimeout as wait } from 'node:timers/promises';
import { DamagedIndexError, type IndexLock, type IndexWriter, type SearchIndexFile } from '@stowage/database';
import { Failure } from '@stowage/rules';
import type { Config } from '../../config/schema.js';
import type { ProcessIdentity } from '../../leases/processIdentity.js';
import type { Log } from '../../log.js';
import { type IndexedMounts, IndexUpdate } from './IndexUpdate.js';
import { answerRequest } from './requests.js';

interface Dependencies {
	file: SearchIndexFile;
	folder: string;
	mounts: IndexedMounts;
	config: Pick<Config, 'search'>;
	identity: Pick<ProcessIdentity, 'hasEnded'>;
	log: Log;
	now(): number;
}

/** How often what other processes note is read. */
const pollMs = 5000;

/** How long after the index was removed it is begun anew. */
const anewMs = 2000;

/** How often the lock is asked for while another process has it. Until then searches read what was noted themselves. */
const lockMs = 10_000;

/** How long changes of this process are collected. Searches read what was noted meanwhile themselves. */
const wakeMs = 500;

/** The pause after an error, such as a full disk. */
const retryMs = 30_000;

/** Work takes at most this share of the time: while something waits to be listed, and for comparing folders with the disk. */
const listingShare = 0.3;
const checkingShare = 0.03;

/** Builds the index and keeps it up to date, in one process over the data folder, and paces the steps of it. */
export class IndexBuilder {
	readonly #parts: Dependencies;
	readonly #update: IndexUpdate;
	readonly #abort = new AbortController();
	#running: Promise<void> | undefined;
	#wake: (() => void) | undefined;
	#isWoken = false;
	#hasFailed = false;
	/** Called when nothing waits. */
	#idle: (() => void)[] = [];

	constructor(parts: Dependencies) {
		this.#parts = parts;
		const report = (error: unknown) => this.#report(error);
		this.#update = new IndexUpdate({ ...parts, signal: this.#abort.signal, report });
	}

	begin(): void {
		this.#running = this.#run().catch((error) => {
			if (!this.#abort.signal.aborted) this.#parts.log.warn({ err: error }, 'the search index is not kept up to date');
		});
	}

	/** Called when this process has changed something. */
	wake(): void {
		this.#isWoken = true;
		this.#wake?.();
	}

	async check(isFull: boolean): Promise<void> {
		const done = this.#update.check.request(isFull);
		this.wake();
		await done;
	}

	/** Resolves when nothing waits to be listed. */
	async settled(): Promise<void> {
		this.#update.isUrgent = true;
		this.#update.endRests();
		await new Promise<void>((resolve) => {
			this.#idle.push(resolve);
			this.wake();
		});
		this.#update.isUrgent = false;
	}

	/** Builds all of it anew. Resolves to whether it did: false where another process has it. */
	async buildNow(): Promise<boolean> {
		const lock = await this.#parts.file.lock();
		if (lock === undefined) return false;
		this.#update.isUrgent = true;
		try {
			await this.#parts.file.remove();
			const writer = await this.#parts.file.write();
			try {
				await this.#update.prepare(writer);
				while (await this.#update.step(writer)) await this.#pause(0);
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
				// Wherever it is damaged: `write` looks at a part of it only.
				const isRemoved = error instanceof DamagedIndexError && (await this.#removeDamaged());
				await this.#pause(isThere && !isRemoved ? retryMs : 0);
			} finally {
				lock?.release();
			}
			await this.#pause(isElsewhere ? lockMs : anewMs);
		}
	}

	/** Removes a damaged index; called with the lock. Resolves to whether it is gone, and is made anew. */
	async #removeDamaged(): Promise<boolean> {
		try {
			await this.#parts.file.remove();
			return true;
		} catch (error) {
			this.#report(error);
			return false;
		}
	}

	/** Builds until the index is closed, has to be begun anew, or fails. */
	async #build(): Promise<void> {
		const { file, folder } = this.#parts;
		const { signal } = this.#abort;
		const identity = async () => `${await file.identity()}`;
		const writer = await file.write();
		try {
			const own = await identity();
			await this.#update.prepare(writer);
			while (!signal.aborted) {
				await answerRequest(folder, 'rebuild', () => file.remove());
				// It may be removed at any time.
				if ((await identity()) !== own) return;
				await answerRequest(folder, 'check', () => {
					this.#update.check.isDue = true;
				});
				await this.#pacedStep(writer);
			}
			// The next process begins with what this one could not compare, such as a disk that was away.
			if (!this.#update.check.isOwed) await writer.setState('end', 'clean');
		} finally {
			await writer.close();
		}
	}

	/** One step of work and the pause that it earns; without work, until there is some. */
	async #pacedStep(writer: IndexWriter): Promise<void> {
		const began = performance.now();
		const idle = this.#idle.splice(0);
		const hasWork = await this.#update.step(writer);
		const isChecking = !hasWork && (await this.#update.compare(writer));
		this.#hasFailed = false;
		const took = performance.now() - began;
		if (hasWork || isChecking) {
			this.#idle.push(...idle);
			const share = hasWork ? listingShare : checkingShare;
			const isHurried = this.#update.isUrgent || this.#update.check.isRequested;
			return this.#pause(isHurried ? 0 : took * (1 / share - 1));
		}
		for (const done of idle) done();
		await this.#sleep(pollMs);
		if (this.#isWoken && !this.#update.isUrgent) await this.#pause(wakeMs);
		this.#isWoken = false;
	}

	/** Waits until something changes, or this time has passed. */
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
