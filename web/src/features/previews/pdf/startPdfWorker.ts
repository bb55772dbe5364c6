import { watchSilence } from '../frame/watchSilence.js';
import { maxSilentSeconds } from './pdfBounds.js';

/** The code that reads PDFs could not be had. */
export class PdfPluginMissing extends Error {}

/**
 * Starts a worker that reads PDFs until the signal is fired; resolves to a port to it. Throws `PdfPluginMissing`.
 * `onSilent` is called when a file has kept it busy for too long: one that waits for bytes answers.
 */
export function startPdfWorker(signal: AbortSignal, onSilent: () => void): Promise<MessagePort> {
	return new Promise((resolve, reject) => {
		const worker = new Worker(new URL('./pdfWorker.ts', import.meta.url), { type: 'module' });
		signal.addEventListener('abort', () => worker.terminate(), { once: true });
		// It sends one when its code has been loaded.
		worker.onmessage = () => {
			const { port1, port2 } = new MessageChannel();
			worker.postMessage({}, [port2]);
			const watch = watchSilence(() => worker.postMessage({}), onSilent, maxSilentSeconds);
			signal.addEventListener('abort', watch.end, { once: true });
			worker.onmessage = watch.hear;
			resolve(port1);
		};
		worker.onerror = (event) => {
			event.preventDefault();
			worker.terminate();
			reject(new PdfPluginMissing('The worker could not be started.'));
		};
	});
}
