import { runInWorker } from '../common/bytes/runInWorker.js';
import type { TextResults, TextTask } from './runTextTask.js';

/** Runs it in a worker. Undefined if that has no result, or takes too long and is terminated. Throws if it can't be loaded. */
export function runInTextWorker<T extends TextTask>(
	task: T,
	signal: AbortSignal,
): Promise<TextResults[T['kind']] | undefined> {
	const worker = new Worker(new URL('./textWorker.ts', import.meta.url), { type: 'module' });
	return runInWorker(worker, task, signal);
}
