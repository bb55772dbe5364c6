import type { browse, browsePublic, QueryInput, ResultOf } from '@stowage/contract';
import { answerTo, NetworkFailure } from './client.js';
import { ListingReader } from './ListingReader.js';

/** Lists a folder or searches it. A hundred thousand rows are read while they come. Throws as `call` does. */
export async function callListing<E extends typeof browse | typeof browsePublic>(
	endpoint: E,
	query: QueryInput<E>,
	signal: AbortSignal,
): Promise<ResultOf<typeof browse>> {
	const { body } = await answerTo(endpoint, { query, signal });
	const reader = new ListingReader();
	if (body === null) return reader.finish();
	const texts = body.pipeThrough(new TextDecoderStream()).getReader();
	for (;;) {
		const { done, value } = await readNext(texts, signal);
		if (done) return reader.finish();
		reader.push(value);
	}
}

async function readNext(texts: ReadableStreamDefaultReader<string>, signal: AbortSignal) {
	try {
		return await texts.read();
	} catch (cause) {
		if (signal.aborted) throw cause;
		throw new NetworkFailure(cause);
	}
}
