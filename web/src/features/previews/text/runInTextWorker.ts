import type { TextResults, TextTask } from './textWorker.js';

/** Longer than any ordinary text of a megabyte takes on a slow machine; the page shows something meanwhile. */
const maxMs = 30_000;

/** Runs it in a worker. Undefined if that has no result, or takes too long and is terminated. */
export function runInTextWorker<T extends TextTask>(
	task: T,
	signal: AbortSignal,
): Promise<TextResults[T['kind']] | undefined> {
	return new Promise((resolve) => {
		const worker = new Worker(new URL('./textWorker.ts', import.meta.url), { type: 'module' });
		const end = (result?: TextResults[T['kind']]) => {
			clearTimeout(timer);
			worker.terminate();
			resolve(result);
		};
		const timer = setTimeout(end, maxMs);
		signal.addEventListener('abort', () => end(), { once: true });
		worker.onmessage = ({ data }: MessageEvent<TextResults[T['kind']] | undefined>) => end(data);
		worker.onerror = (event) => {
			event.preventDefault();
			end();
		};
		worker.postMessage(task);
	});
}
