import { plural } from '@stowage/rules';

/** The words of the search. Those of its filters are loaded with them. */
export const searchMessages = {
	search: 'Search',
	clearSearch: 'Clear search',
	hits: 'Hits',
	hitCount: (count: number) => (count === 0 ? 'No hits' : `${plural(count, 'hit')}. Use the arrow keys to choose one.`),
	noHits: (term: string) => `No name here or further down has “${term}” in it.`,
	noFilteredHits: (term: string) => `No name here or further down has “${term}” in it and passes the filters.`,
	searching: 'Searching…',
	filters: 'Filters',
} as const;
