import { getHeapStatistics } from 'node:v8';
import type { Server } from '@hapi/hapi';
import { overloaded } from '../errors.js';

const sampleMs = 1000;

/**
 * The check of each request. It throws `unavailable` while the event loop is later than `maxDelayMs`, or nine tenths of
 * the memory are in use: the request would delay all clients, or the process would run out of memory. 0 is no limit of
 * the delay. hapi's own measurement reads a file of the system: without a free descriptor that throws outside of any
 * request, which ends the process.
 */
export function createLoadCheck(server: Server, maxDelayMs: number): () => void {
	const maxHeapBytes = getHeapStatistics().heap_size_limit * 0.9;
	let sampledAt = performance.now();
	let delayMs = 0;
	let heapBytes = 0;
	let timer: NodeJS.Timeout | undefined;
	const lateness = () => performance.now() - sampledAt - sampleMs;
	const sample = () => {
		delayMs = lateness();
		heapBytes = getHeapStatistics().used_heap_size;
		sampledAt = performance.now();
		timer?.refresh();
	};
	server.ext('onPreStart', () => {
		sampledAt = performance.now();
		timer = setTimeout(sample, sampleMs).unref();
	});
	server.ext('onPostStop', () => clearTimeout(timer));
	return () => {
		const isLate = maxDelayMs > 0 && timer !== undefined && Math.max(delayMs, lateness()) > maxDelayMs;
		if (isLate || heapBytes > maxHeapBytes) throw overloaded;
	};
}
