declare module 'pdfjs-dist/build/pdf.worker.min.mjs' {
	/** The part of pdf.js that reads documents. */
	export const WorkerMessageHandler: { initializeFromPort(port: MessagePort): void };
}
