/** Longer than any ordinary file takes on a slow machine; the page shows something meanwhile. */
const maxMs = 30_000;

/** The code of a worker could not be fetched: the server is away, or was updated since the page was opened. */
export class WorkerNotLoaded extends Error {}

/**
 * The one message with which a new worker answers a task. Undefined if it fails, or takes too long and is terminated,
 * or when the signal is fired. Throws `WorkerNotLoaded`, after which the page looks for a new version of itself as after a
 * failed import.
 */
export function runInWorker<R>(worker: Worker, task: unknown, signal: AbortSignal): Promise<R | undefined> {
	return new Promise((resolve, reject) => {
		const stop = () => {
			clearTimeout(timer);
			worker.terminate();
		};
		const end = (result?: R) => {
			stop();
			resolve(result);
		};
		const timer = setTimeout(end, maxMs);
		signal.addEventListener('abort', () => end(), { once: true });
		worker.onmessage = ({ data }: MessageEvent<R | undefined>) => end(data);
		worker.onerror = (event) => {
			event.preventDefault();
			// What a script throws has a message; the event of one that could not be fetched has none.
			if (event.message !== undefined) return end();
			stop();
			reject(new WorkerNotLoaded());
			// As Vite does around each import.
			window.dispatchEvent(new Event('vite:preloadError'));
		};
		worker.postMessage(task);
	});
}
