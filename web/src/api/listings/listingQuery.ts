import { browse, browsePublic, type QueryInput, type ResultOf } from '@stowage/contract';
import { type Area, isFailure } from '@stowage/rules';
import { queryOptions } from '@tanstack/react-query';
import { answerTo, NetworkFailure } from '../client/client.js';
import { ListingReader } from './ListingReader.js';

/** The key under which every listing of an area lies, or of one folder in it. */
export function listingKey(area: Area, directory?: string) {
	return directory === undefined ? ['listing', area] : ['listing', area, directory];
}

/**
 * What a folder holds, or what a search below it finds. `isSignedIn` is part of the key: a visitor's public view is
 * another one.
 */
export function listingQuery(area: Area, directory: string, search: string, isSignedIn: boolean) {
	return queryOptions({
		queryKey: [...listingKey(area, directory), search, isSignedIn ? 'user' : 'visitor'],
		queryFn: ({ signal }) => {
			const query = { directory, ...(search === '' ? {} : { search }) };
			return isSignedIn
				? callListing(browse, { ...query, type: area }, signal)
				: callListing(browsePublic, query, signal);
		},
		staleTime: 5_000,
		retry: (failures, error) => isFailure(error, 'unavailable') && failures < 2,
	});
}

/** Lists a folder or searches it. A hundred thousand rows are read while they come. Throws as `call` does. */
async function callListing<E extends typeof browse | typeof browsePublic>(
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
