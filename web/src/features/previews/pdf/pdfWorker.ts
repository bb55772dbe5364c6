/// <reference lib="webworker" />
import { WorkerMessageHandler } from 'pdfjs-dist/build/pdf.worker.min.mjs';
import { boundMemory } from './boundMemory.js';

/** Reads PDFs for the viewers' frame, which passes it a port. */
const scope = globalThis as unknown as DedicatedWorkerGlobalScope & typeof globalThis;

boundMemory(scope);

scope.addEventListener('message', ({ ports: [port] }) => {
	// The frame asks whether it still answers.
	if (!port) return scope.postMessage({});
	WorkerMessageHandler.initializeFromPort(port);
	port.start();
});
