/** Longer than any ordinary file takes on a slow machine; the page shows something meanwhile. */
const maxMs = 30_000;

/**
 * The one message with which a new worker answers a task. Undefined if it fails, or takes too long and is terminated,
 * or when the signal is fired.
 */
export function runInWorker<R>(worker: Worker, task: unknown, signal: AbortSignal): Promise<R | undefined> {
	return new Promise((resolve) => {
		const end = (result?: R) => {
			clearTimeout(timer);
			worker.terminate();
			resolve(result);
		};
		const timer = setTimeout(end, maxMs);
		signal.addEventListener('abort', () => end(), { once: true });
		worker.onmessage = ({ data }: MessageEvent<R | undefined>) => end(data);
		worker.onerror = (event) => {
			event.preventDefault();
			end();
		};
		worker.postMessage(task);
	});
}
