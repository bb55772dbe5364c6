import { schemas } from '@stowage/contract';
import { type Job, type JobOwner, type Jobs, keyOfAnother, Yielder } from '@stowage/plugin-api';
import {
	type Area,
	assertAllowed,
	baseName,
	type Entry,
	Failure,
	failureKind,
	plural,
	type StoragePath,
} from '@stowage/rules';
import { conflictOf } from '../files/placing/placeItem.js';
import type { SharedFolders } from '../members/SharedFolders.js';
import { assertMayChange } from './assertMayChange.js';
import { boundToFolders } from './boundFolders.js';
import { type CopyDependencies, copyKind } from './copyKind.js';
import { moveKind } from './moveKind.js';
import { type PastedItem, type PasteInput, pasteDenialsOf, stepOf } from './pasteInput.js';

export interface Pasting {
	/**
	 * Starts a job, or finds the one that was started with this idempotency key. Throws if the job can be refused as a whole: if no item
	 * may be pasted there, and the signal's reason.
	 */
	start(
		owner: JobOwner,
		kind: 'copy' | 'move',
		input: PasteInput,
		options?: { key?: string | undefined; signal?: AbortSignal },
	): Promise<Job>;
	/**
	 * Does the same for a single item. Returns its entry if that takes less than this many milliseconds, else the id of
	 * the job. Throws if the job fails in that time.
	 */
	startSingle(
		owner: JobOwner,
		kind: 'copy' | 'move',
		input: PasteInput,
		waitMs: number,
	): Promise<{ entry: Entry } | { jobId: string }>;
}

interface Dependencies extends CopyDependencies {
	sharedFolders: Pick<SharedFolders, 'joined' | 'forMany'>;
}

/** Copies and moves as jobs: of cut or copied items, and of single calls whose client prefers not to wait. */
export function createPasting(jobs: Jobs, dependencies: Dependencies): Pasting {
	const starters = { copy: jobs.define(copyKind(dependencies)), move: jobs.define(moveKind(dependencies)) };

	const pasting: Pasting = {
		async start(owner, kind, input, { key, signal } = {}) {
			const known =
				key === undefined ? undefined : await starters[kind].findByKey(owner, key, { maxBytes: mostBytesOf(input) });
			if (known !== undefined) {
				if (known.input !== undefined && !isSameRequest(known.input, input)) throw keyOfAnother();
				return known.job;
			}
			await assertSomeAllowed(owner, kind, input);
			await assertMayChange(dependencies.sharedFolders, owner, kind, input, signal);
			const bound = await boundToFolders(dependencies.sharedFolders, owner, input);
			return starters[kind].start(owner, bound, titleOf(kind, input), { key });
		},

		async startSingle(owner, kind, input, waitMs) {
			const { id } = await pasting.start(owner, kind, input);
			const ended = await jobs.waitForEnd(owner, id, waitMs);
			if (ended === undefined) return { jobId: id };
			if (ended.status === 'completed') return { entry: schemas.entry.parse(ended.detail?.entry) as Entry };
			throw reasonOf(ended);
		},
	};
	return pasting;
}

/** How many bytes the input of the same request has at most as JSON. One that has more needs not be read to know that it is another. */
function mostBytesOf({ items, directory, ifMatch, address }: PasteInput): number {
	let characters = directory.length + (ifMatch?.length ?? 0) + address.length;
	for (const { path, owner, name } of items) characters += path.length + (owner?.length ?? 0) + (name?.length ?? 0);
	// A character has six bytes at most, and the shared folder that a path begins with is kept once more, with its id.
	return 12 * characters + 200 * items.length + 1000;
}

/** Whether the same was requested. Compared item by item: as texts, ten thousand of them would take eight megabytes each. */
function isSameRequest(a: PasteInput, b: PasteInput): boolean {
	const isSameItem = (one: PastedItem, other: PastedItem | undefined) =>
		one.path === other?.path && one.owner === other.owner && one.name === other.name;
	return (
		(['from', 'to', 'directory', 'onConflict', 'ifMatch'] as const).every((key) => a[key] === b[key]) &&
		a.items.length === b.items.length &&
		a.items.every((item, index) => isSameItem(item, b.items[index]))
	);
}

async function assertSomeAllowed(owner: JobOwner, kind: 'copy' | 'move', input: PasteInput): Promise<void> {
	if (input.items.length === 0) throw new Failure('invalid', 'Nothing to paste');
	if (input.ifMatch !== undefined && input.items.length > 1)
		throw new Failure('invalid', 'ifMatch: is for a single item');
	conflictOf(input);
	const denialOf = pasteDenialsOf(kind, owner, input);
	const yielder = new Yielder();
	let first: Failure | undefined;
	for (const item of input.items) {
		if (yielder.shouldYield) await yielder.yield();
		const denial = denialOf(item);
		if (denial === undefined) {
			// Refused at once if its path there is too long.
			stepOf(input, item);
			return;
		}
		first ??= denial;
	}
	assertAllowed(first);
}

function titleOf(kind: 'copy' | 'move', { items, to, directory }: PasteInput): string {
	const [first] = items;
	const what = items.length === 1 && first !== undefined ? baseName(first.path) : plural(items.length, 'item');
	return `${kind === 'copy' ? 'Copy' : 'Move'} ${what} to ${folderName(to, directory)}`;
}

function folderName(area: Area, directory: StoragePath): string {
	if (directory !== '') return baseName(directory);
	return { public: 'Public', private: 'My Files', shared: 'Shared with me' }[area];
}

/** The failure of a job with a single item, as the call without a job would answer it. */
function reasonOf({ error, detail }: Job): Error {
	const [fault] = Array.isArray(detail?.errors) ? (detail.errors as { code?: string }[]) : [];
	const kind = failureKind(fault?.code ?? '');
	if (kind === undefined) return new Error(error ?? 'A job ended without a reason.');
	return new Failure(kind, error ?? 'It could not be done.');
}
