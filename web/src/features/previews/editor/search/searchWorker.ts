/// <reference lib="webworker" />
import { findMatches, type SearchTask } from './findMatches.js';

const scope = globalThis as unknown as DedicatedWorkerGlobalScope;

scope.onmessage = ({ data }: MessageEvent<SearchTask>) => {
	const found = findMatches(data);
	scope.postMessage(found, [found.places.buffer]);
};
