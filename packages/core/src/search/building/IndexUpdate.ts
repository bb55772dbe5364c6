import { statfs } from 'node:fs/promises';
import path from 'node:path';
import type { IndexWriter, Relisted, WaitingMark } from '@stowage/database';
import type { StorageProvider } from '@stowage/plugin-api';
import { Failure, isFailure } from '@stowage/rules';
import type { Config } from '../../config/schema.js';
import type { ProcessIdentity } from '../../leases/processIdentity.js';
import { Journals } from '../Journals.js';
import { applyJournals } from './applyJournals.js';
import { FolderCheck, isRootAway } from './FolderCheck.js';
import { relist } from './relist.js';

/** The storage roots, as they are now. */
export interface IndexedMounts {
	all(): readonly { readonly name: string; readonly storage: StorageProvider }[];
}

interface Dependencies {
	folder: string;
	mounts: IndexedMounts;
	config: Pick<Config, 'search'>;
	identity: Pick<ProcessIdentity, 'hasEnded'>;
	/** Ends a step early. */
	signal: AbortSignal;
	/** A folder could not be listed; others go on. */
	report(error: unknown): void;
	now(): number;
}

/** A folder that could not be listed, and a root that is away, are tried again after this time. */
const retryMs = 30_000;

/** How long one step takes, about; and how much is written in one transaction. */
const stepMs = 50;
const maxAnswers = 64;
const maxItems = 4000;

/** Bytes of the data folder's disk that the index leaves to what matters more: sessions, accounts, the audit log. */
const reserveBytes = 128 * 1024 * 1024;

/**
 * A folder is listed again when this many times the time that it took has passed, and at least some seconds: into many
 * one file comes after the other, and until then searches read it from the disk.
 */
const restFactor = 100;
const minRestMs = 3000;

/**
 * The steps by which an index becomes what the disk has: it applies what all processes have noted, lists what is stale,
 * and compares folders with the disk.
 */
export class IndexUpdate {
	readonly #parts: Dependencies;
	readonly #journals: Journals;
	readonly check: FolderCheck;
	/** Works as fast as it can: no folder rests, and a step is not cut short. */
	isUrgent = false;
	/** Folders that rest, until these times. */
	readonly #resting = new Map<string, number>();
	/** Roots that are away, until these times. */
	readonly #away = new Map<string, number>();
	/** The last mark that was looked at, from which the next step goes on. */
	#cursor = 0;

	constructor(parts: Dependencies) {
		this.#parts = parts;
		this.#journals = new Journals(path.join(parts.folder, 'changes'));
		this.check = new FolderCheck(parts.now);
	}

	/** Folders that rest are listed in the next steps. */
	endRests(): void {
		this.#resting.clear();
	}

	/** Called before the first step with a file, which may be a new one in the place of one that was removed or damaged. */
	async prepare(writer: IndexWriter): Promise<void> {
		// After an unclean end changes may be missing that the system had not written when the power went.
		const wasClean = (await writer.state('end')) === 'clean';
		await writer.setState('end', 'none');
		if (!wasClean) this.check.isDue = true;
		this.check.restart();
		await this.#chooseRoots(writer);
		this.#cursor = 0;
	}

	/** Applies what was noted, and lists some of what is stale. Resolves to whether there may be more. */
	async step(writer: IndexWriter): Promise<boolean> {
		await this.#chooseRoots(writer);
		await applyJournals(this.#journals, writer, this.#parts);
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
			if (this.#parts.signal.aborted) break;
			if (items >= maxItems || (performance.now() - began > stepMs && !this.isUrgent)) break;
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

	/** Compares some folders with the disk, if that is due. Resolves to whether it did. */
	async compare(writer: IndexWriter): Promise<boolean> {
		const mounts = this.#mounts().filter(({ storage }) => (this.#away.get(storage.rootId) ?? 0) <= performance.now());
		try {
			return await this.check.step(writer, mounts, this.#parts.config.search.checkEvery);
		} catch (error) {
			if (!isFailure(error, 'unavailable')) throw error;
			for (const { storage } of mounts) await this.#noteIfAway(storage);
			return false;
		}
	}

	/** Resolves to whether the root is away. Nothing of it is listed or compared then for a while. */
	async #noteIfAway(storage: StorageProvider): Promise<boolean> {
		const isAway = await isRootAway(storage);
		if (isAway) this.#away.set(storage.rootId, performance.now() + retryMs);
		return isAway;
	}

	async #chooseRoots(writer: IndexWriter): Promise<void> {
		const mounts = this.#mounts();
		const ids = mounts.map(({ storage }) => storage.rootId);
		if (ids.join() === this.check.roots.join()) return;
		await writer.keepRoots(ids);
		for (const id of ids) await writer.addRoot(id, this.#parts.now());
		this.check.roots = ids;
	}

	/** The roots that have an index. */
	#mounts() {
		const { mounts, config } = this.#parts;
		return mounts.all().filter(({ name, storage }) => storage.rootId !== '' && !config.search.exclude.includes(name));
	}

	/** Lists what a mark names; undefined for what has to rest. */
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
			// Of a root that is there it is one folder that the disk can't read: all others are listed.
			if (isFailure(error, 'unavailable') && (await this.#noteIfAway(storage))) return undefined;
			this.#parts.report(error);
			this.#resting.set(key, performance.now() + retryMs);
			return undefined;
		}
	}

	#rest(key: string, took: number): void {
		const now = performance.now();
		if (!this.isUrgent) this.#resting.set(key, now + Math.max(minRestMs, restFactor * took));
		if (this.#resting.size < 10_000) return;
		for (const [each, until] of this.#resting) if (until < now) this.#resting.delete(each);
	}
}

/** Throws `storageFull` where the index may not grow. */
async function assertDiskSpace(folder: string): Promise<void> {
	const { bavail, bsize, blocks } = await statfs(folder);
	// Where the file system doesn't know, there are no blocks.
	if (blocks > 0 && bavail * bsize < reserveBytes)
		throw new Failure('storageFull', 'The disk of the data folder has no room for the search index.');
}
