import { browse } from '@stowage/contract';
import type { SortMode } from '@stowage/rules';
import { queryOptions, skipToken } from '@tanstack/react-query';
import { NetworkFailure, readResult } from '../client/client.js';
import { queryKeys } from '../queryKeys.js';
import type { FileSource, FolderQuery } from '../sources/FileSource.js';
import { inTurns, nextTurn } from './inTurns.js';
import { type FirstEntries, type Listing, ListingReader } from './ListingReader.js';
import { isSearch, type Search, searchParams } from './search.js';
import { sortedEntries } from './sortedEntries.js';

/**
 * The entries of a folder, or the results of a search below it. If `shown` is the order in which they are to be shown, the
 * first ones are there before the others (`firstEntriesQuery`).
 */
export function listingQuery(source: FileSource, directory: string, search: Search, shown?: SortMode) {
	const params = searchParams(search);
	const { queryKey: firstKey } = firstEntriesQuery(source, directory);
	return queryOptions({
		queryKey: queryKeys.listings.of(source.place, directory, params, source.reader ?? 'visitor'),
		queryFn: async ({ signal, client, queryKey }) => {
			if (shown === undefined) return fetchListing(source, { directory, ...params }, signal);
			const isFirst = !isSearch(search) && client.getQueryData(queryKey) === undefined;
			if (isFirst) void client.resetQueries({ queryKey: firstKey });
			const onFirst = (first: FirstEntries) => client.setQueryData(firstKey, first);
			const listing = await (isFirst
				? fetchListing(source, { directory, sort: shown }, signal, onFirst)
				: fetchListing(source, { directory, ...params }, signal));
			// Now, or the page would do it together with all else that it renders.
			await nextTurn(signal);
			sortedEntries(listing.entries, shown);
			return listing;
		},
		staleTime: 5_000,
		// Comparing a hundred thousand entries would be in vain: the rows are rebuilt after any change.
		structuralSharing: false,
	});
}

/** The first entries of a folder whose others are still being fetched. */
export function firstEntriesQuery(source: FileSource, directory: string) {
	return queryOptions<FirstEntries>({
		queryKey: queryKeys.listings.first(source.place, directory, source.reader ?? 'visitor'),
		queryFn: skipToken,
	});
}

/** How many hits are shown while a term is typed. */
const shownHits = 8;

/** How long typing must pause before the server is asked. */
const typingPauseMs = 200;

/**
 * The best results of a search, best first. It is cancelled, also while it waits for a pause in the typing, when
 * another one replaces it.
 */
export function hitsQuery(source: FileSource, directory: string, search: Search) {
	const params = searchParams(search);
	return queryOptions({
		queryKey: queryKeys.listings.hits(source.place, directory, source.reader ?? 'visitor', params),
		queryFn: async ({ signal }) => {
			await pause(typingPauseMs, signal);
			const response = await source.browse({ directory, ...params }, signal);
			const { entries } = await readResult(browse, response, signal);
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

/** Lists or searches a folder, and parses the response while it arrives. Throws as `call` does. */
export async function fetchListing(
	source: FileSource,
	query: FolderQuery,
	signal: AbortSignal,
	onFirst?: (first: FirstEntries) => void,
): Promise<Listing> {
	const { body } = await source.browse(query, signal);
	const reader = new ListingReader(onFirst);
	if (body === null) return inTurns(reader.finish(), signal);
	const texts = body.pipeThrough(new TextDecoderStream()).getReader();
	for (;;) {
		const { done, value } = await readNext(texts, signal);
		if (done) return inTurns(reader.finish(), signal);
		await inTurns(reader.push(value), signal);
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
