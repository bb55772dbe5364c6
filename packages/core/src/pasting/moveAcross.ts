import type { CopyStaging, Files, JobContext, OnConflict } from '@stowage/plugin-api';
import { baseName, type Entry, type Failure, isFailure, joinPath, parentPath, parsePath } from '@stowage/rules';
import { changedAfterwards, changedMeanwhile, digestOfItem } from '../files/digestOfItem.js';
import type { HourlyLimits, UploadCounter } from '../uploads/admission/HourlyLimits.js';
import type { PasteInput, PasteStep } from './pasteInput.js';
import type { PasteState } from './pasteItems.js';

interface AcrossMove {
	job: JobContext<PasteInput>;
	/** Its marker is what an interrupted run, or a call that ended with `locked`, has said of this item. */
	state: PasteState;
	onConflict: OnConflict;
	files: Files;
	uploadLimits: Pick<HourlyLimits, 'counted'>;
}

/** Between the id of the original and the path of its copy. */
const copied = / copied to (.*)$/s;

/** How often what was changed in the original meanwhile is copied too, before the move is refused. */
const maxPasses = 3;

/**
 * Moves an item into the home of somebody else, or out of it: it is copied whole, and then put into the trash of the
 * home that it leaves. What changes in it meanwhile is copied too: a copy of something else than it is now gets no name,
 * and the original stays. A run that was interrupted between the two removes the very item that was copied.
 */
export async function moveAcross({ from, to }: PasteStep, move: AcrossMove): Promise<Entry> {
	const { job, state, onConflict, files, uploadLimits } = move;
	const { viewer, signal, input } = job;
	const placed = state.marker === undefined ? null : copied.exec(state.marker);
	if (placed !== null) {
		await removeCopied(state.marker?.slice(0, placed.index) ?? '');
		// The folder may have been renamed since.
		const path = joinPath(parentPath(to.path), baseName(parsePath(placed[1] ?? '')));
		return files.find(viewer, { ...to, path });
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
			// A run that ends is continued from there.
			if (staged.id !== undefined && !(signal.aborted && !job.isCancelled)) {
				await files.discardCopy(staged.id);
				delete state.marker;
				delete state.original;
			}
			throw error;
		});
	state.marker = `${id} copied to ${entry.path}`;
	await job.checkpoint(state);
	await removeCopied(id);
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

	/** Of a checkpoint that an earlier version saved nothing is known. */
	async function isUnchanged(): Promise<boolean> {
		return state.original === undefined || state.original === (await digestOfItem(files, viewer, from, signal));
	}

	async function removeCopied(itemId: string): Promise<void> {
		try {
			for await (const item of files.stat(viewer, from.area, [from])) if (item.id !== itemId) return;
			if (!(await isUnchanged())) throw changedAfterwards(from.path);
			await files.remove(viewer, from);
		} catch (error) {
			if (!isFailure(error, 'notFound')) throw error;
		}
	}
}
