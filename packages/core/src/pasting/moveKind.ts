import {
	type Files,
	type JobContext,
	type JobKind,
	retryWhileLocked,
	statIfPresent,
	type WalkedItem,
} from '@stowage/plugin-api';
import { baseName, type Entry, isFailure, joinPath, parentPath, type Viewer } from '@stowage/rules';
import { conflictOf } from '../files/placing/placeItem.js';
import { stepInFolders } from './boundFolders.js';
import type { CopyDependencies } from './copyKind.js';
import { moveAcross } from './moveAcross.js';
import { type PasteInput, type PasteStep, withinOneArea } from './pasteInput.js';
import { detailOf, expectBytes, pasteItems, pasteKind, stateOf } from './pasteItems.js';

/** Moves of many items. Each is one rename, so at most one of them is incomplete. */
export function moveKind({
	files,
	sharedFolders,
	uploadLimits,
	monotonic,
}: Pick<CopyDependencies, 'files' | 'sharedFolders' | 'uploadLimits' | 'monotonic'>): JobKind<PasteInput> {
	return {
		...pasteKind(files),
		name: 'move',
		async run(job) {
			const state = stateOf(job);
			const { viewer, input } = job;
			const onConflict = conflictOf(input);
			const reportProgress = () => {
				job.progress({ done: state.next, total: input.items.length, unit: 'items', detail: detailOf(state) });
			};
			reportProgress();
			let before = state.marker;
			return pasteItems(
				job,
				state,
				{ kind: 'move', done: 'Moved' },
				{
					async pasteItem(asked) {
						const planned = await stepInFolders(sharedFolders, viewer, input, asked);
						if (isAcross(planned)) {
							before = undefined;
							await expectCopy(files, viewer, planned, job);
							const across = { job, state, onConflict, files, uploadLimits };
							return retryWhileLocked(() => moveAcross(planned, across), job.signal);
						}
						const step = withinOneArea(planned);
						const moved = before === undefined ? undefined : await findMoved(files, viewer, step, before);
						before = undefined;
						if (moved !== undefined) return moved;
						for await (const { id } of files.stat(viewer, step.from.area, [step.from])) state.marker = id;
						// With its id, since the next run after an interruption must know that the move is done.
						await job.checkpoint(state);
						const options = { onConflict, toFolderId: step.to.folderId };
						return retryWhileLocked(() => files.move(viewer, step.from, step.to.path, options), job.signal);
					},
					discardCurrent: async () => {},
					reportProgress,
					monotonic,
				},
			);
		},
	};
}

/** What is shared with the viewer lies in homes of others. */
function isAcross({ from, to }: PasteStep): boolean {
	return from.area !== to.area && [from.area, to.area].includes('shared');
}

/** Tells of a large file that it will take long. A folder that does is found out by the time that it takes. */
async function expectCopy(
	files: Files,
	viewer: Viewer,
	{ from }: PasteStep,
	job: Pick<JobContext<PasteInput>, 'expect'>,
): Promise<void> {
	const item = await statIfPresent(files, viewer, from);
	if (item?.type === 'file') await expectBytes(job, item.size);
}

/** The item with this id, if it is in the target folder under any name and no longer at its source. */
async function findMoved(
	files: Files,
	viewer: Viewer,
	{ from, to }: PasteStep,
	id: string,
): Promise<Entry | undefined> {
	try {
		for await (const item of files.stat(viewer, from.area, [from])) if (item.id === id) return undefined;
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
	}
	const folder = parentPath(to.path);
	const owner = to.area === 'public' && viewer.kind === 'user' ? { owner: viewer.username } : {};
	const place = { ...to, ...owner };
	for await (const { items } of files.listWithStats(viewer, { ...place, path: folder })) {
		const found = items.find((item: WalkedItem) => item.id === id);
		if (found !== undefined) return files.find(viewer, { ...place, path: joinPath(folder, baseName(found.path)) });
	}
	return undefined;
}
