import type { JobContext } from '@stowage/plugin-api';
import { type Entry, Failure, type FailureKind, isFailure, pasteDenial, plural, truncateToBytes } from '@stowage/rules';
import { z } from 'zod';
import { type PasteInput, type PasteStep, stepOf } from './pasteInput.js';

/** So much is told of what failed. */
const faultsBytes = 8 * 1024;
const messageBytes = 1000;

/** After one of these, the items that follow would fail as well. */
const hopeless: readonly FailureKind[] = ['storageFull', 'rateLimited', 'unavailable'];

const fault = z.object({ path: z.string(), message: z.string(), code: z.string() });

/** From where a further run goes on. */
const saved = z.object({
	/** The item that is next, or under way. */
	next: z.number().default(0),
	failed: z.number().default(0),
	faults: z.array(fault).default([]),
	/** Bytes of the items that are done, and of all. */
	bytes: z.number().default(0),
	totalBytes: z.number().optional(),
	/** What the item under way is found again by. */
	mark: z.string().optional(),
});

export type PasteState = z.infer<typeof saved>;

export function stateOf({ saved: value }: JobContext<PasteInput>): PasteState {
	return saved.parse(value ?? {});
}

interface PasteWords {
	operation: 'cut' | 'copy';
	/** Such as `Copied`. */
	done: string;
}

interface PasteWork {
	/** Brings one item to its place. It may have done so in a run that did not live to save it. */
	bring(step: PasteStep): Promise<Entry>;
	/** Drops what is half done of the item under way. */
	giveUp(): Promise<void>;
	/** Tells how far it is. */
	tell(): void;
}

/**
 * Brings the items of a job to their places one after another. One that fails keeps no other one; the job fails if all did, or if there is no hope for those
 * that follow.
 */
export async function pasteItems(
	job: JobContext<PasteInput>,
	state: PasteState,
	words: PasteWords,
	work: PasteWork,
): Promise<Record<string, unknown>> {
	const { items } = job.input;
	let entry: Entry | undefined;
	const fail = (reason: Failure): Failure => {
		if (items.length === 1) return reason;
		return new Failure(reason.kind, `${doneSentence(state, words, items.length)} ${reason.message}`, { cause: reason });
	};
	for (let item = items[state.next]; item !== undefined; item = items[state.next]) {
		try {
			const step = stepOf(job.input, item);
			const denial = pasteDenial(words.operation, job.viewer, step.from, step.to);
			if (denial !== undefined) throw denial;
			job.signal.throwIfAborted();
			entry = await work.bring(step);
		} catch (error) {
			if (job.signal.aborted && !job.isCancelled) throw error;
			delete state.mark;
			await work.giveUp();
			if (job.isCancelled) throw new Failure('conflict', doneSentence(state, words, items.length), { cause: error });
			if (!isFailure(error)) throw error;
			const before = { ...state, faults: [...state.faults] };
			note(state, item.path, error);
			if (hopeless.includes(error.kind)) {
				work.tell();
				// It is tried again with this one.
				await job.checkpoint(before);
				throw fail(error);
			}
			state.failed++;
			if (state.failed === items.length) {
				state.next++;
				work.tell();
				await job.checkpoint({});
				throw fail(error);
			}
		}
		delete state.mark;
		state.next++;
		work.tell();
	}
	return { ...detailOf(state), ...(items.length === 1 && entry !== undefined ? { entry } : {}) };
}

/** What a job tells of its items, while it runs and in the end. */
export function detailOf({ next, failed, faults }: PasteState): Record<string, unknown> {
	return { done: next - failed, failed, errors: faults };
}

function doneSentence({ next, failed }: PasteState, words: PasteWords, items: number): string {
	const done = next - failed;
	return done === 0 ? 'Nothing was done.' : `${words.done} ${done} of ${plural(items, 'item')}.`;
}

function note(state: PasteState, path: string, { message, code }: Failure): void {
	const noted = { path, message: truncateToBytes(message, messageBytes), code };
	const bytes = Buffer.byteLength(JSON.stringify([...state.faults, noted]));
	if (bytes <= faultsBytes) state.faults.push(noted);
}
