import { browse } from '@stowage/contract';
import { isFailure } from '@stowage/rules';
import { queryOptions } from '@tanstack/react-query';
import { NetworkFailure, readResult } from '../client/client.js';
import { queryKeys } from '../queryKeys.js';
import type { FileSource, FolderQuery } from '../sources/FileSource.js';
import { type Listing, ListingReader } from './ListingReader.js';
import { type Search, searchParams } from './search.js';

/** The entries of a folder, or the results of a search below it. */
export function listingQuery(source: FileSource, directory: string, search: Search) {
	const params = searchParams(search);
	return queryOptions({
		queryKey: queryKeys.listings.of(source.place, directory, params, source.reader ?? 'visitor'),
		queryFn: ({ signal }) => fetchListing(source, { directory, ...params }, signal),
		staleTime: 5_000,
		retry: (failures, error) => isFailure(error, 'unavailable') && failures < 2,
	});
}

/** How many hits are shown while a term is typed. */
const shownHits = 8;

/** For how long no letter is typed before the server is asked. */
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
export async function fetchListing(source: FileSource, query: FolderQuery, signal: AbortSignal): Promise<Listing> {
	const { body } = await source.browse(query, signal);
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
