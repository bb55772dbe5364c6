import type { CopyStaging, Files, JobContext, OnConflict } from '@stowage/plugin-api';
import { baseName, type Entry, isFailure, joinPath, parentPath, parsePath } from '@stowage/rules';
import type { HourlyLimits } from '../uploads/admission/HourlyLimits.js';
import type { PasteInput, PasteStep } from './pasteInput.js';
import type { PasteState } from './pasteItems.js';

interface AcrossMove {
	job: JobContext<PasteInput>;
	state: PasteState;
	/** What an interrupted run has said of this item. */
	marker: string | undefined;
	onConflict: OnConflict;
	files: Files;
	uploadLimits: Pick<HourlyLimits, 'counted'>;
}

/** Between the id of the original and the path of its copy. */
const copied = / copied to (.*)$/s;

/**
 * Moves an item into the home of somebody else, or out of it: it is copied whole, and then put into the trash of the
 * home that it leaves. A run that was interrupted between the two removes the very item that was copied.
 */
export async function moveAcross({ from, to }: PasteStep, move: AcrossMove): Promise<Entry> {
	const { job, state, marker, onConflict, files, uploadLimits } = move;
	const { viewer, signal, input } = job;
	const placed = marker === undefined ? null : copied.exec(marker);
	if (placed !== null) {
		await removeCopied(marker?.slice(0, placed.index) ?? '');
		// The folder may have been renamed since.
		const path = joinPath(parentPath(to.path), baseName(parsePath(placed[1] ?? '')));
		return files.find(viewer, { ...to, path });
	}
	await files.assertRemovable(viewer, from);
	let id = '';
	for await (const item of files.stat(viewer, from.area, [from])) id = item.id;
	const staged: CopyStaging = {
		id: marker,
		async onBegin(begun) {
			staged.id = begun;
			state.marker = begun;
			await job.checkpoint(state);
		},
	};
	const entry = await uploadLimits
		.counted(viewer, input.address, { files: 0, bytes: 0 }, (counting) =>
			files.copy(viewer, from, to, {
				signal,
				onConflict,
				staged,
				beforeItem: async ({ type, size }) => {
					if (type === 'file') await counting.createdFile(size);
				},
			}),
		)
		.catch(async (error: unknown) => {
			// A run that ends is continued from there.
			if (staged.id !== undefined && !(signal.aborted && !job.isCancelled)) await files.discardCopy(staged.id);
			throw error;
		});
	state.marker = `${id} copied to ${entry.path}`;
	await job.checkpoint(state);
	await removeCopied(id);
	return entry;

	async function removeCopied(itemId: string): Promise<void> {
		try {
			for await (const item of files.stat(viewer, from.area, [from])) if (item.id !== itemId) return;
			await files.remove(viewer, from);
		} catch (error) {
			if (!isFailure(error, 'notFound')) throw error;
		}
	}
}
