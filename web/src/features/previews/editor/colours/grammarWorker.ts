/// <reference lib="webworker" />
import { grammarOf } from './grammars.js';

export interface ReadTask {
	language: string;
	text: string;
}

const scope = globalThis as unknown as DedicatedWorkerGlobalScope;

/** Answers with the milliseconds in which the grammar reads the text. */
scope.onmessage = async ({ data: { language, text } }: MessageEvent<ReadTask>) => {
	const grammar = await grammarOf(language);
	const began = performance.now();
	grammar?.parser.parse(text);
	scope.postMessage(performance.now() - began);
};
