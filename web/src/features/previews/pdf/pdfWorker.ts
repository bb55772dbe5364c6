/// <reference lib="webworker" />
import { WorkerMessageHandler } from 'pdfjs-dist/build/pdf.worker.min.mjs';
import { boundMemory } from './boundMemory.js';

/** Reads PDFs for the viewers' frame, which has an origin that starts no workers: the page passes it a port to this one. */
const scope = globalThis as unknown as DedicatedWorkerGlobalScope & typeof globalThis;

boundMemory(scope);

scope.addEventListener('message', ({ ports: [port] }) => {
	// The page asks whether it still answers.
	if (!port) return scope.postMessage({});
	WorkerMessageHandler.initializeFromPort(port);
	port.start();
});
