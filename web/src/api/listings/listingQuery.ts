import { browse, browsePublic, type QueryInput } from '@stowage/contract';
import { type Area, isFailure } from '@stowage/rules';
import { queryOptions } from '@tanstack/react-query';
import { call, fetchResponse, NetworkFailure } from '../client/client.js';
import { queryKeys } from '../queryKeys.js';
import { type Listing, ListingReader } from './ListingReader.js';
import { type Search, searchParams } from './search.js';

/** The entries of a folder, or the results of a search below it. */
export function listingQuery(area: Area, directory: string, search: Search, isSignedIn: boolean) {
	return queryOptions({
		queryKey: queryKeys.listings.of(area, directory, searchParams(search), isSignedIn),
		queryFn: ({ signal }) => fetchListing(area, directory, search, isSignedIn, signal),
		staleTime: 5_000,
		retry: (failures, error) => isFailure(error, 'unavailable') && failures < 2,
	});
}

/** Lists or searches a folder. Throws as `call` does. */
export function fetchListing(
	area: Area,
	directory: string,
	search: Search,
	isSignedIn: boolean,
	signal: AbortSignal,
): Promise<Listing> {
	const query = { directory, ...searchParams(search) };
	return isSignedIn ? callListing(browse, { ...query, type: area }, signal) : callListing(browsePublic, query, signal);
}

/** How many hits are shown while a term is typed. */
const shownHits = 8;

/** For how long no letter is typed before the server is asked. */
const typingPauseMs = 200;

/** The best results of a search, best first. It is cancelled, also while it waits for a pause in the typing, when another one replaces it. */
export function hitsQuery(area: Area, directory: string, search: Search, isSignedIn: boolean) {
	const params = searchParams(search);
	return queryOptions({
		queryKey: queryKeys.listings.hits(area, directory, isSignedIn, params),
		queryFn: async ({ signal }) => {
			await pause(typingPauseMs, signal);
			const query = { directory, ...params };
			const { entries } = isSignedIn
				? await call(browse, { query: { ...query, type: area }, signal })
				: await call(browsePublic, { query, signal });
			return entries.slice(0, shownHits);
		},
		staleTime: 5_000,
		retry: false,
	});
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
	await new Promise((resolve) => {
		const timer = setTimeout(resolve, ms);
		signal.addEventListener('abort', () => {
			clearTimeout(timer);
			resolve(undefined);
		});
	});
	signal.throwIfAborted();
}

/** Parses the response while it arrives. */
async function callListing<E extends typeof browse | typeof browsePublic>(
	endpoint: E,
	query: QueryInput<E>,
	signal: AbortSignal,
): Promise<Listing> {
	const { body } = await fetchResponse(endpoint, { query, signal });
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
