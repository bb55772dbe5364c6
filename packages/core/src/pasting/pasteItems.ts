import { isOfDatabase } from '@stowage/database';
import { type Files, type JobContext, type JobKind, type ShortJobs, Yielder } from '@stowage/plugin-api';
import { baseName, type Entry, Failure, type FailureKind, isFailure, plural, truncateToBytes } from '@stowage/rules';
import { z } from 'zod';
import { withNewNames } from '../jobs/withNewNames.js';
import { type PasteInput, type PasteStep, pasteDenialsOf, pasteInput, stepOf } from './pasteInput.js';

/** Bytes of JSON that a job keeps about the items that failed. */
const faultsBytes = 8 * 1024;
const messageBytes = 1000;
/** Bytes of JSON that a job keeps about the items that got other names. */
const renamedBytes = 6 * 1024;

/** The remaining items would fail for the same reason. */
const fatalKinds: readonly FailureKind[] = ['storageFull', 'rateLimited', 'unavailable'];

/** Those of a former version have no index. */
const fault = z.object({
	index: z.int().min(0).optional(),
	path: z.string(),
	message: z.string(),
	code: z.string(),
});

/** The checkpoint that the next run continues from. */
const saved = withNewNames(
	z.object({
		/** The item that is next, or under way. */
		next: z.int().min(0).default(0),
		failed: z.int().min(0).default(0),
		faults: z.array(fault).default([]),
		/** The items that got other names since theirs were taken, by their numbers, as far as there is room for them; and how many others. */
		renamed: z.array(z.tuple([z.int().min(0), z.string()])).default([]),
		unlisted: z.int().min(0).default(0),
		/** Bytes of the items that are done, and of all. */
		bytes: z.number().min(0).default(0),
		totalBytes: z.number().min(0).optional(),
		/** Identifies the item under way to the next run. */
		marker: z.string().optional(),
		/** What that item was when its copy was begun, where it is removed once it is copied. */
		original: z.string().optional(),
		/** The id of its copy, once that has its name: its owner may give it another place before the original is removed. */
		copy: z.string().optional(),
	}),
	{ mark: 'marker' },
);

export type PasteState = z.infer<typeof saved>;

/**
 * Throws for a checkpoint that can't be of these items: by a damaged one the job would end as done, and its user might
 * remove the originals.
 */
export function stateOf({ saved: value, input }: Pick<JobContext<PasteInput>, 'saved' | 'input'>): PasteState {
	const state = saved.parse(value ?? {});
	if (state.next > input.items.length || state.failed > state.next)
		throw new Error(`The checkpoint is at item ${state.next} of ${input.items.length}, with ${state.failed} failed.`);
	return state;
}

/** Removes the incomplete copy of a checkpoint. The marker of a move within a home is of no copy. */
async function discardStaged(files: Pick<Files, 'discardCopy'>, value: unknown): Promise<void> {
	const { marker } = saved.parse(value);
	if (marker !== undefined) await files.discardCopy(marker);
}

interface PasteLabels {
	kind: 'copy' | 'move';
	/** Such as `Copied`. */
	done: string;
}

interface PasteWork {
	/** Copies or moves one item. An earlier run may already have done so without saving it. */
	pasteItem(step: PasteStep): Promise<Entry>;
	/** Removes the incomplete copy of the current item. */
	discardCurrent(): Promise<void>;
	/** Reports the progress of the job. Called once in a while, and at the end. */
	reportProgress(): void;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/** Two users with large pastes have all other places. Whoever pastes something small waits for it on the page. */
const shortPastes: ShortJobs = { places: 2, seconds: 10 };

/** What copies and moves have in common. */
export function pasteKind(files: Pick<Files, 'discardCopy'>): Omit<JobKind<PasteInput>, 'name' | 'run'> {
	return {
		input: pasteInput,
		onRestart: 'resume',
		concurrency: 4,
		// Jobs of other users can start although one user pastes four disks.
		runningPerUser: 3,
		short: shortPastes,
		perUser: 20,
		discard: (saved) => discardStaged(files, saved),
	};
}

/** What a disk copies in a second. */
const usualSpeed = 100_000_000;

/** Tells how many bytes are to be copied before they are: a large copy gives back a place for short ones, and goes on in another. */
export function expectBytes(job: Pick<JobContext<PasteInput>, 'expect'>, bytes: number): Promise<void> {
	return job.expect(bytes / usualSpeed);
}

/** The least time between two progress reports. */
export const reportMs = 100;

/**
 * Copies or moves the items of a job one after another. A failed item does not stop the others; the job fails if all
 * items failed, or if the remaining ones would fail for the same reason.
 */
export async function pasteItems(
	job: JobContext<PasteInput>,
	state: PasteState,
	labels: PasteLabels,
	work: PasteWork,
): Promise<Record<string, unknown>> {
	const { items } = job.input;
	const denialOf = pasteDenialsOf(labels.kind, job.viewer, job.input);
	const faults = new BoundedList(state.faults, faultsBytes);
	const renamed = new BoundedList(state.renamed, renamedBytes);
	const yielder = new Yielder();
	let reportedAt = Number.NEGATIVE_INFINITY;
	let entry: Entry | undefined;
	/** A disk that fails may have done all the same what it was asked for. */
	const mayBeDone = (reason: unknown) => state.next === state.failed && isFailure(reason, 'unavailable');
	const fail = (reason: Failure): Failure => {
		if (items.length === 1 || mayBeDone(reason)) return reason;
		return new Failure(reason.kind, `${doneSentence(state, labels, items.length)} ${reason.message}`, {
			cause: reason,
		});
	};
	for (let item = items[state.next]; item !== undefined; item = items[state.next]) {
		try {
			// An item that is refused awaits nothing else.
			if (yielder.shouldYield) await yielder.yield(job.signal);
			const denial = denialOf(item);
			if (denial !== undefined) throw denial;
			job.signal.throwIfAborted();
			const step = stepOf(job.input, item);
			entry = await work.pasteItem(step);
			if (entry.name !== baseName(step.to.path) && !renamed.add([state.next, entry.name])) state.unlisted++;
		} catch (error) {
			if (job.signal.aborted && !job.isCancelled) throw error;
			const isCopied = state.copy !== undefined;
			const goesOn = willGoOn(job, error);
			if (!goesOn) {
				forgetCurrent(state);
				await work.discardCurrent();
			}
			if (job.isCancelled) {
				if (!isCopied && mayBeDone(error)) throw error;
				const kept = isCopied ? ` ${baseName(item.path)} was copied already, and the copy is kept.` : '';
				throw new Failure('conflict', `${doneSentence(state, labels, items.length)}${kept}`, { cause: error });
			}
			if (!isFailure(error)) throw error;
			const endsRun = goesOn || fatalKinds.includes(error.kind);
			const before = endsRun ? { ...state, faults: [...state.faults] } : undefined;
			recordFault(faults, state.next, item.path, error);
			if (before !== undefined) {
				work.reportProgress();
				// The next attempt begins with this item, or goes on with what there is of it.
				await job.checkpoint(before);
				throw fail(error);
			}
			state.failed++;
			if (state.failed === items.length) {
				state.next++;
				work.reportProgress();
				await job.checkpoint({});
				throw fail(error);
			}
		}
		forgetCurrent(state);
		state.next++;
		const now = work.monotonic();
		if (now - reportedAt < reportMs && state.next < items.length) continue;
		reportedAt = now;
		work.reportProgress();
	}
	return { ...detailOf(state), ...(items.length === 1 && entry !== undefined ? { entry } : {}) };
}

/** Whether a later run goes on with the incomplete copy, where there is one: a server that stops or lacks its database ends no copy. */
export function willGoOn(
	{ signal, isCancelled }: Pick<JobContext<PasteInput>, 'signal' | 'isCancelled'>,
	error: unknown,
): boolean {
	return !isCancelled && (signal.aborted || isOfDatabase(error));
}

function forgetCurrent(state: PasteState): void {
	delete state.marker;
	delete state.original;
	delete state.copy;
}

/** The details of a job, while it runs, and its result at the end. */
export function detailOf({ next, failed, faults, renamed, unlisted }: PasteState): Record<string, unknown> {
	const names = renamed.length === 0 ? {} : { renamed, ...(unlisted === 0 ? {} : { unlisted }) };
	return { done: next - failed, failed, errors: faults, ...names };
}

function doneSentence({ next, failed }: PasteState, labels: PasteLabels, items: number): string {
	const done = next - failed;
	return done === 0 ? 'Nothing was done.' : `${labels.done} ${done} of ${plural(items, 'item')}.`;
}

function recordFault(
	faults: BoundedList<PasteState['faults'][number]>,
	index: number,
	path: string,
	{ message, code }: Failure,
): void {
	// A path takes as many bytes as it has characters, or more.
	if (path.length > faults.room) return;
	faults.add({ index, path, message: truncateToBytes(message, messageBytes), code });
}

/** Adds to a list that is stored as JSON, as far as there is room for it. Each item is measured once. */
class BoundedList<Item> {
	#bytes: number;

	constructor(
		readonly list: Item[],
		readonly maxBytes: number,
	) {
		this.#bytes = jsonBytes(list);
	}

	get room(): number {
		return this.maxBytes - this.#bytes;
	}

	/** Whether it had room. */
	add(item: Item): boolean {
		const bytes = jsonBytes(item) + (this.list.length === 0 ? 0 : 1);
		if (bytes > this.room) return false;
		this.#bytes += bytes;
		this.list.push(item);
		return true;
	}
}

function jsonBytes(value: unknown): number {
	return Buffer.byteLength(JSON.stringify(value));
}
