import type { CopyStaging, FileCopyOptions, Files, JobContext, JobKind } from '@stowage/plugin-api';
import { type Entry, isFailure } from '@stowage/rules';
import { clientKey } from '../limits/clientKey.js';
import type { FairQueue } from '../limits/FairQueue.js';
import type { Log } from '../log.js';
import type { UploadLimits } from '../uploads/limits/uploadLimits.js';
import { countBytes } from './countBytes.js';
import { type PasteInput, type PasteStep, pasteInput } from './pasteInput.js';
import { detailOf, pasteItems, stateOf } from './pasteItems.js';
import { unlessLocked } from './unlessLocked.js';

/** How often a page may hear how far a copy is. */
const reportMs = 100;

/** How often what is known of a copy is saved: one that comes further is not given up, however often it is cut off. */
const checkpointMs = 5000;

export interface CopyDependencies {
	files: Files;
	uploadLimits: UploadLimits;
	walkQueue: FairQueue;
	log: Log;
	/** Milliseconds of a clock that nobody sets. */
	monotonic(): number;
}

/** Copies of any size that survive a restart: an item that was being copied goes on with what is whole of it. */
export function copyKind({ files, uploadLimits, walkQueue, log, monotonic }: CopyDependencies): JobKind<PasteInput> {
	return {
		name: 'copy',
		input: pasteInput,
		onRestart: 'resume',
		concurrency: 4,
		// Others begin although one user pastes four disks.
		runningPerUser: 3,
		perUser: 20,
		async run(job) {
			const { viewer, input, signal } = job;
			const state = stateOf(job);
			let savedAt = monotonic();
			const save = async () => {
				savedAt = monotonic();
				await job.checkpoint(state);
			};
			const staged: CopyStaging = {
				id: state.mark,
				async onBegin(id) {
					staged.id = id;
					state.mark = id;
					await save();
				},
			};
			let itemBytes = 0;
			let reportedAt = Number.NEGATIVE_INFINITY;
			const tell = () => {
				reportedAt = monotonic();
				const done = state.bytes + itemBytes;
				// What is there by now may be more than there was when it was counted.
				const total = state.totalBytes === undefined ? 0 : Math.max(state.totalBytes, done);
				job.progress({ done, total, unit: 'bytes', detail: detailOf(state) });
			};
			const options: Omit<FileCopyOptions, 'beforeItem'> = {
				signal,
				staged,
				afterBytes(bytes) {
					itemBytes += bytes;
					if (monotonic() - reportedAt >= reportMs) tell();
				},
			};
			const bring = ({ from, to }: PasteStep): Promise<Entry> =>
				uploadLimits.counted(viewer, input.address, { files: 0, bytes: 0 }, (counting) => {
					itemBytes = 0;
					return files.copy(viewer, from, to, {
						...options,
						async beforeItem({ type, size }) {
							if (type === 'file') await counting.one(size);
							if (monotonic() - savedAt >= checkpointMs) await save();
						},
					});
				});
			const dropHalf = async () => {
				itemBytes = 0;
				if (staged.id === undefined) return;
				const { id } = staged;
				staged.id = undefined;
				// What can't be dropped now is swept later.
				await files
					.discardCopy(id)
					.catch((error: unknown) => log.warn({ err: error }, 'an incomplete copy could not be removed'));
			};
			tell();
			// Beside the copying, which needs no total: the bar shows that something is going on until it is known.
			const counting = new AbortController();
			const counted = state.totalBytes === undefined ? count(job, counting.signal) : undefined;
			try {
				return await pasteItems(
					job,
					state,
					{ operation: 'copy', done: 'Copied' },
					{
						async bring(step) {
							const entry = await unlessLocked(() => bring(step), signal);
							state.bytes += itemBytes;
							itemBytes = 0;
							staged.id = undefined;
							return entry;
						},
						giveUp: dropHalf,
						tell,
					},
				);
			} finally {
				counting.abort();
				await counted;
			}

			async function count({ input: { from, items } }: JobContext<PasteInput>, ended: AbortSignal): Promise<void> {
				const client = clientKey(viewer, input.address);
				try {
					state.totalBytes = await walkQueue.run(client, () => countBytes(files, viewer, from, items, ended), ended);
					tell();
				} catch (error) {
					// The copying tells what is wrong with the files; too many walks under way only cost the bar its total.
					if (!ended.aborted && !isFailure(error)) throw error;
				}
			}
		},
	};
}
