import {
	type CopyStaging,
	type FileCopyOptions,
	type Files,
	type JobContext,
	type JobKind,
	retryWhileLocked,
} from '@stowage/plugin-api';
import { type Entry, isFailure } from '@stowage/rules';
import { conflictOf } from '../files/placing/placeItem.js';
import { queueClient } from '../http/requests/proxy.js';
import type { FairQueue } from '../limits/FairQueue.js';
import type { Log } from '../log.js';
import type { SharedFolders } from '../members/SharedFolders.js';
import type { HourlyLimits } from '../uploads/admission/HourlyLimits.js';
import { stepInFolders } from './boundFolders.js';
import { countBytes } from './countBytes.js';
import type { PasteInput, PasteStep } from './pasteInput.js';
import { detailOf, expectBytes, pasteItems, pasteKind, reportMs, stateOf } from './pasteItems.js';

/**
 * The time between two checkpoints. A run that gets further than this counts as progress, so the job is not given up
 * however often it is interrupted.
 */
const checkpointMs = 5000;

export interface CopyDependencies {
	files: Files;
	sharedFolders: Pick<SharedFolders, 'joined'>;
	uploadLimits: HourlyLimits;
	walkQueue: FairQueue;
	log: Log;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/** Copies of any size that survive a restart: an interrupted copy of an item continues with the files that are complete. */
export function copyKind({
	files,
	sharedFolders,
	uploadLimits,
	walkQueue,
	log,
	monotonic,
}: CopyDependencies): JobKind<PasteInput> {
	return {
		...pasteKind(files),
		name: 'copy',
		async run(job) {
			const { viewer, input, signal } = job;
			const state = stateOf(job);
			let savedAt = monotonic();
			const save = async () => {
				savedAt = monotonic();
				await job.checkpoint(state);
			};
			const staged: CopyStaging = {
				id: state.marker,
				async onBegin(id) {
					staged.id = id;
					state.marker = id;
					await save();
				},
			};
			let itemBytes = 0;
			let reportedAt = Number.NEGATIVE_INFINITY;
			const reportProgress = () => {
				reportedAt = monotonic();
				const done = state.bytes + itemBytes;
				// The source may have grown since it was counted.
				const total = state.totalBytes === undefined ? 0 : Math.max(state.totalBytes, done);
				job.progress({ done, total, unit: 'bytes', detail: detailOf(state) });
			};
			const options: Omit<FileCopyOptions, 'beforeItem'> = {
				signal,
				staged,
				onConflict: conflictOf(input),
				afterBytes(bytes) {
					itemBytes += bytes;
					if (monotonic() - reportedAt >= reportMs) reportProgress();
				},
			};
			const copyItem = ({ from, to }: PasteStep): Promise<Entry> =>
				uploadLimits.counted(viewer, input.address, { files: 0, bytes: 0 }, (counting) => {
					itemBytes = 0;
					return files.copy(viewer, from, to, {
						...options,
						async beforeItem({ type, size }) {
							if (type === 'file') await counting.createdFile(size);
							if (monotonic() - savedAt >= checkpointMs) await save();
						},
					});
				});
			const discardPartial = async () => {
				itemBytes = 0;
				if (staged.id === undefined) return;
				const { id } = staged;
				staged.id = undefined;
				// A later sweep removes a copy that can't be removed now.
				await files
					.discardCopy(id)
					.catch((error: unknown) => log.warn({ err: error }, 'an incomplete copy could not be removed'));
			};
			reportProgress();
			const expectRest = async () => {
				try {
					await expectBytes(job, Math.max(0, (state.totalBytes ?? 0) - state.bytes));
				} catch (error) {
					// The copy ends by its signal, as whenever that fires.
					if (!job.signal.aborted) throw error;
				}
			};
			await expectRest();
			// Counted while copying, which needs no total: the bar is indeterminate until the total is known.
			const counting = new AbortController();
			const counted = state.totalBytes === undefined ? count(job, counting.signal) : undefined;
			try {
				return await pasteItems(
					job,
					state,
					{ kind: 'copy', done: 'Copied' },
					{
						async pasteItem(step) {
							const entry = await retryWhileLocked(
								async () => copyItem(await stepInFolders(sharedFolders, viewer, input, step)),
								signal,
							);
							state.bytes += itemBytes;
							itemBytes = 0;
							staged.id = undefined;
							return entry;
						},
						discardCurrent: discardPartial,
						reportProgress,
						monotonic,
					},
				);
			} finally {
				counting.abort();
				await counted;
			}

			async function count({ input: { from, items } }: JobContext<PasteInput>, ended: AbortSignal): Promise<void> {
				const client = queueClient(viewer, input.address);
				try {
					state.totalBytes = await walkQueue.run(
						client,
						(turn) => countBytes(files, viewer, from, items, ended, turn),
						ended,
					);
					reportProgress();
					await expectRest();
				} catch (error) {
					// The copy itself reports errors of the files. Without a slot for the walk only the progress bar lacks its total.
					if (!ended.aborted && !isFailure(error)) throw error;
				}
			}
		},
	};
}
