import workerAddress from 'pdfjs-dist/build/pdf.worker.min.mjs?url';
import type { PDFDocumentLoadingTask, PDFDocumentProxy } from 'pdfjs-dist/types/src/display/api.js';

export type Pdfjs = typeof import('pdfjs-dist');
export type PdfViewerKit = typeof import('pdfjs-dist/web/pdf_viewer.mjs');

export interface PdfPlugin {
	pdfjs: Pdfjs;
	kit: PdfViewerKit;
	worker: Worker;
}

/** The code that reads and draws PDFs, or its worker, could not be had. */
export class PdfPluginMissing extends Error {}

/** More pages are not useful, and each takes memory. */
const maxPages = 10_000;
/** Decoded they take four bytes each. */
const maxPixels = 100_000_000;
/** Adjacent ranges that are needed at once are one request; a larger one would load unused bytes. */
const chunkBytes = 64 * 1024;

/** Loads the PDF reader, and starts its worker. Throws `PdfPluginMissing`. */
export async function loadPlugin(): Promise<PdfPlugin> {
	try {
		const pdfjs = await import('pdfjs-dist');
		// The second part finds the first one here.
		Object.assign(globalThis, { pdfjsLib: pdfjs });
		const kit = await import('pdfjs-dist/web/pdf_viewer.mjs');
		return { pdfjs, kit, worker: await startWorker() };
	} catch (cause) {
		throw new PdfPluginMissing('The PDF plugin could not be loaded.', { cause });
	}
}

/** It sends a message when its code has been loaded. */
function startWorker(): Promise<Worker> {
	return new Promise((resolve, reject) => {
		const worker = new Worker(workerAddress, { type: 'module' });
		const onReady = () => {
			worker.removeEventListener('message', onReady);
			resolve(worker);
		};
		worker.addEventListener('message', onReady);
		worker.onerror = (event) => {
			event.preventDefault();
			worker.terminate();
			reject(new Error('The worker could not be started.'));
		};
	});
}

/** Opens a document by range requests; only the visible part is fetched. Nothing in it runs. */
export function openPdf({ pdfjs, worker }: PdfPlugin, url: string): PDFDocumentLoadingTask {
	const folder = new URL(`pdfjs-${pdfjs.version}/`, new URL(workerAddress, window.location.href));
	return pdfjs.getDocument({
		url: new URL(url, window.location.href).href,
		// The worker's own setting: it would log every error that it corrects.
		worker: pdfjs.PDFWorker.create({ port: worker, verbosity: pdfjs.VerbosityLevel.ERRORS }),
		rangeChunkSize: chunkBytes,
		disableAutoFetch: true,
		disableStream: true,
		isEvalSupported: false,
		enableXfa: false,
		maxImageSize: maxPixels,
		cMapUrl: new URL('cmaps/', folder).href,
		cMapPacked: true,
		standardFontDataUrl: new URL('standard_fonts/', folder).href,
		wasmUrl: new URL('wasm/', folder).href,
		iccUrl: new URL('iccs/', folder).href,
		verbosity: pdfjs.VerbosityLevel.ERRORS,
	});
}

export async function assertPages(document: PDFDocumentProxy): Promise<void> {
	if (document.numPages > maxPages) throw new Error(`It has more than ${maxPages} pages.`);
}
