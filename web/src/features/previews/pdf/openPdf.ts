import type { PDFDocumentLoadingTask, PDFDocumentProxy } from 'pdfjs-dist/types/src/display/api.js';
import { maxPixels } from '../common/images/pixels.js';
import type { FrameContent, FrameEvent } from '../frame/frameMessages.js';

export type Pdfjs = typeof import('pdfjs-dist');
export type PdfViewerKit = typeof import('pdfjs-dist/web/pdf_viewer.mjs');

/** More pages are not useful, and each takes memory. */
const maxPages = 10_000;
/** Adjacent ranges that are needed at once are one request; a larger one would load unused bytes. */
const chunkBytes = 64 * 1024;

/** Loads the code that draws PDFs. */
export async function loadPdfjs(): Promise<{ pdfjs: Pdfjs; kit: PdfViewerKit }> {
	const pdfjs = await import('pdfjs-dist');
	// The second part finds the first one here.
	Object.assign(globalThis, { pdfjsLib: pdfjs });
	return { pdfjs, kit: await import('pdfjs-dist/web/pdf_viewer.mjs') };
}

export interface OpenPdf {
	task: PDFDocumentLoadingTask;
	/** Whether it can't go on before it receives bytes that it has asked for. */
	isWaiting(): boolean;
	/** Bytes that were asked for. */
	receive(begin: number, bytes: Uint8Array): void;
}

/** Opens a document by the parts of it that are needed, for which the page is asked. Nothing in it runs. */
export function openPdf(
	pdfjs: Pdfjs,
	{ size }: Extract<FrameContent, { kind: 'pdf' }>,
	/** The port to the worker that reads it. */
	port: MessagePort,
	say: (event: FrameEvent) => void,
): OpenPdf {
	let missing = 0;
	class Parts extends pdfjs.PDFDataRangeTransport {
		override requestDataRange(begin: number, end: number): void {
			missing++;
			say({ kind: 'part', begin, end });
		}
	}
	const range = new Parts(size, null);
	// The files of pdf.js lie beside its code.
	const here = import.meta.url;
	const folder = new URL(`pdfjs-${pdfjs.version}/`, here);
	// Its types know workers only, of which it needs what a port has.
	const worker = pdfjs.PDFWorker.create({ port: port as unknown as Worker, verbosity: pdfjs.VerbosityLevel.ERRORS });
	port.start();
	const task = pdfjs.getDocument({
		range,
		// The worker's own setting: it would log every error that it corrects.
		worker,
		rangeChunkSize: chunkBytes,
		disableAutoFetch: true,
		disableStream: true,
		isEvalSupported: false,
		enableXfa: false,
		maxImageSize: maxPixels,
		useWorkerFetch: true,
		cMapUrl: new URL('cmaps/', folder).href,
		cMapPacked: true,
		standardFontDataUrl: new URL('standard_fonts/', folder).href,
		wasmUrl: new URL('wasm/', folder).href,
		iccUrl: new URL('iccs/', folder).href,
		verbosity: pdfjs.VerbosityLevel.ERRORS,
	});
	return {
		task,
		isWaiting: () => missing > 0,
		receive(begin, bytes) {
			missing--;
			range.onDataRange(begin, bytes);
		},
	};
}

export function assertPages(document: PDFDocumentProxy): void {
	if (document.numPages > maxPages) throw new Error(`It has more than ${maxPages} pages.`);
}
