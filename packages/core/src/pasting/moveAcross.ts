import {
	type CopyStaging,
	type Files,
	findById,
	type ItemRef,
	type JobContext,
	type OnConflict,
	statIfPresent,
	type TakenItem,
	type WalkedItem,
} from '@stowage/plugin-api';
import {
	baseName,
	type Entry,
	type Failure,
	isFailure,
	joinPath,
	parentPath,
	parsePath,
	type StoragePath,
} from '@stowage/rules';
import {
	changedAfterwards,
	changedMeanwhile,
	copyGone,
	digestOfItem,
	digestOfTaken,
	hasAllOf,
} from '../files/digestOfItem.js';
import type { HourlyLimits, UploadCounter } from '../uploads/admission/HourlyLimits.js';
import type { PasteInput, PasteStep } from './pasteInput.js';
import { type PasteState, willGoOn } from './pasteItems.js';

interface AcrossMove {
	job: JobContext<PasteInput>;
	/** The state of the item, with the marker of an interrupted run, or of a call that ended with `locked`. */
	state: PasteState;
	onConflict: OnConflict;
	files: Files;
	uploadLimits: Pick<HourlyLimits, 'counted'>;
}

/** The marker of a copied item: between the id of the original and the path of its copy. */
const copied = / copied to (.*)$/s;

/** How often what was changed in the original meanwhile is copied too, before the move is refused. */
const maxPasses = 3;

/**
 * Moves an item into the home of somebody else, or out of it: it is copied whole, and then put into the trash of the
 * home that it leaves. What changes in it meanwhile is copied too: a copy of something else than it is now gets no name,
 * and the original stays. A run that was interrupted between the two removes the very item that was copied, and only while
 * the copy still has all of it.
 */
export async function moveAcross({ from, to }: PasteStep, move: AcrossMove): Promise<Entry> {
	const { job, state, onConflict, files, uploadLimits } = move;
	const { viewer, signal, input } = job;
	const target: ItemRef = to.area === 'public' ? { ...to, owner: viewer.username } : to;
	const placed = state.marker === undefined ? null : copied.exec(state.marker);
	if (placed !== null) {
		// The folder may have been renamed since, and what is in it too.
		const path = joinPath(parentPath(to.path), baseName(parsePath(placed[1] ?? '')));
		await removeCopied(state.marker?.slice(0, placed.index) ?? '', path);
		return files.find(viewer, { ...to, path: (await findCopy(path))?.path ?? path });
	}
	await files.assertRemovable(viewer, from);
	let id = '';
	for await (const item of files.stat(viewer, from.area, [from])) id = item.id;
	const staged: CopyStaging = {
		id: state.marker,
		async onBegin(begun) {
			staged.id = begun;
			state.marker = begun;
			await job.checkpoint(state);
		},
	};
	/** What a copy throws that is not of the original as it is now. */
	let changed: Failure | undefined;
	const entry = await uploadLimits
		.counted(viewer, input.address, { files: 0, bytes: 0 }, async (counting) => {
			for (let pass = 1; ; pass++) {
				try {
					return await copy(counting);
				} catch (error) {
					if (error !== changed || pass === maxPasses) throw error;
					// The staged copy is continued with what it lacks.
					delete state.original;
				}
			}
		})
		.catch(async (error: unknown) => {
			if (staged.id !== undefined && !willGoOn(job, error)) {
				await files.discardCopy(staged.id);
				delete state.marker;
				delete state.original;
			}
			throw error;
		});
	state.marker = `${id} copied to ${entry.path}`;
	const path = joinPath(parentPath(to.path), entry.name);
	const made = await statIfPresent(files, viewer, { ...target, path });
	if (made !== undefined) state.copy = made.id;
	await job.checkpoint(state);
	await removeCopied(id, path);
	return entry;

	async function copy(counting: UploadCounter): Promise<Entry> {
		if (state.original === undefined) {
			state.original = await digestOfItem(files, viewer, from, signal);
			// The next run must not take what is changed by then for what was copied.
			await job.checkpoint(state);
		}
		return files.copy(viewer, from, to, {
			signal,
			onConflict,
			staged,
			beforeItem: async ({ type, size }) => {
				if (type === 'file') await counting.createdFile(size);
			},
			async beforeNaming() {
				if (await isUnchanged()) return;
				changed = changedMeanwhile(from.path);
				throw changed;
			},
		});
	}

	/** Whether the original is what was copied; taken for granted for checkpoints of earlier versions, which have no digest. */
	async function isUnchanged(): Promise<boolean> {
		return state.original === undefined || state.original === (await digestOfItem(files, viewer, from, signal));
	}

	/** Removes the original, if it is what was copied, and the copy still has all of it: hours may have passed since that was made. */
	async function removeCopied(itemId: string, path: StoragePath): Promise<void> {
		const original = await statIfPresent(files, viewer, from);
		if (original?.id !== itemId) return;
		try {
			if (!(await isUnchanged())) throw changedAfterwards(from.path);
			if (!(await isCopyWhole(path))) throw copyGone(from.path);
			signal.throwIfAborted();
			// Compared once more where nothing can arrive in it.
			await files.remove(viewer, from, { isMeant: (taken) => isAsCopied(taken, itemId) });
		} catch (error) {
			if (isFailure(error, 'preconditionFailed')) throw changedAfterwards(from.path);
			if (!isFailure(error, 'notFound')) throw error;
		}
	}

	async function isAsCopied(taken: TakenItem, itemId: string): Promise<boolean> {
		if (taken.item.id !== itemId) return false;
		return state.original === undefined || state.original === (await digestOfTaken(taken, from.path, signal));
	}

	async function isCopyWhole(path: StoragePath): Promise<boolean> {
		const copy = await findCopy(path);
		if (copy === undefined) return false;
		try {
			return await hasAllOf(files, viewer, { original: from, copy: { ...target, path: copy.path } }, signal);
		} catch (error) {
			if (!isFailure(error, 'notFound')) throw error;
			// With an original that is gone there is nothing to be lost.
			return (await statIfPresent(files, viewer, from)) === undefined;
		}
	}

	/** The copy, wherever it is by now. Of a checkpoint that an earlier version saved only its path is known. */
	async function findCopy(path: StoragePath): Promise<WalkedItem | undefined> {
		const there = await statIfPresent(files, viewer, { ...target, path });
		if (state.copy === undefined || there?.id === state.copy) return there;
		return findById(files, viewer, { ...target, path: parentPath(path) }, state.copy, signal);
	}
}
