import { watchSilence } from '../frame/watchSilence.js';
import { maxSilentSeconds } from './pdfBounds.js';
import workerScript from './pdfWorker.ts?worker&url';

/**
 * Starts a worker that reads PDFs, in the frame's process: it may take all memory of that without ending the page, and
 * ends with the frame. Resolves to a port to it; throws where its code can't be had. `onSilent` is called when a file
 * has kept it busy for too long: one that waits for bytes answers.
 */
export function startPdfWorker(onSilent: () => void): Promise<MessagePort> {
	const script = new URL(workerScript.slice(workerScript.lastIndexOf('/') + 1), import.meta.url).href;
	// An opaque origin starts workers of its own addresses only, and Chromium none of these that is a module.
	const start = URL.createObjectURL(
		new Blob([`import(${JSON.stringify(script)}).catch(() => postMessage('missing'));`], { type: 'text/javascript' }),
	);
	return new Promise((resolve, reject) => {
		const worker = new Worker(start);
		const fail = () => {
			worker.terminate();
			reject(new Error('The worker could not be started.'));
		};
		// It sends one when its code has been loaded.
		worker.onmessage = ({ data }: MessageEvent<unknown>) => {
			URL.revokeObjectURL(start);
			if (data === 'missing') return fail();
			const { port1, port2 } = new MessageChannel();
			worker.postMessage({}, [port2]);
			const watch = watchSilence(() => worker.postMessage({}), onSilent, maxSilentSeconds);
			worker.onmessage = watch.hear;
			resolve(port1);
		};
		worker.onerror = (event) => {
			event.preventDefault();
			fail();
		};
	});
}
