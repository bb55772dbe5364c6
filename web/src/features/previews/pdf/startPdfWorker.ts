/** The code that reads PDFs could not be had. */
export class PdfPluginMissing extends Error {}

/** Starts a worker that reads PDFs until the signal is fired; resolves to a port to it. Throws `PdfPluginMissing`. */
export function startPdfWorker(signal: AbortSignal): Promise<MessagePort> {
	return new Promise((resolve, reject) => {
		const worker = new Worker(new URL('./pdfWorker.ts', import.meta.url), { type: 'module' });
		signal.addEventListener('abort', () => worker.terminate(), { once: true });
		// It sends one when its code has been loaded.
		worker.onmessage = () => {
			worker.onmessage = null;
			const { port1, port2 } = new MessageChannel();
			worker.postMessage({}, [port2]);
			resolve(port1);
		};
		worker.onerror = (event) => {
			event.preventDefault();
			worker.terminate();
			reject(new PdfPluginMissing('The worker could not be started.'));
		};
	});
}
