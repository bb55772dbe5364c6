/// <reference lib="webworker" />
import { rangedBlob } from '../common/bytes/rangedBlob.js';
import { tagsOf } from './tags.js';

/**
 * The tags of a file of the server: a hostile one can keep their parser busy, so that it runs off the page's thread
 * and can be terminated.
 */
export interface TagsTask {
	url: string;
	size: number;
	type: string;
}

const scope = globalThis as unknown as DedicatedWorkerGlobalScope;

scope.onmessage = async ({ data: { url, size, type } }: MessageEvent<TagsTask>) => {
	// Without tags a file is played all the same.
	scope.postMessage(await tagsOf(rangedBlob(url, size, type)).catch(() => undefined));
};
