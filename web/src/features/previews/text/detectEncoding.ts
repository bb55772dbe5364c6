import { type Encoding, encodingOf } from './encodings.js';
import { runInTextWorker } from './runInTextWorker.js';

/** The encoding of a text, which a worker guesses where neither a mark nor UTF-8 says it. Throws if that can't be loaded. */
export function detectEncoding(bytes: Uint8Array, signal = new AbortController().signal): Promise<Encoding> {
	return encodingOf(bytes, async () => (await runInTextWorker({ kind: 'detect', bytes }, signal)) ?? []);
}
