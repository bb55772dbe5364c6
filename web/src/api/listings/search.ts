import { schemas } from '@stowage/contract';
import { maxSearchLength, type SearchFilters, searchKinds } from '@stowage/rules';

/** What a folder and all below it are searched for. */
export interface Search {
	/** The term; `''` for any name. */
	search: string;
	filters: SearchFilters;
}

/** The whole folder: no search. */
export const noSearch: Search = { search: '', filters: {} };

export function isSearch({ search, filters }: Search): boolean {
	return search !== '' || hasFilters(filters);
}

export function hasFilters(filters: SearchFilters): boolean {
	return Object.values(filters).some((filter) => filter !== undefined);
}

/** A search as the call's parameters. They have the same names in the page's URL. */
export function searchParams({ search, filters }: Search): Record<string, string> {
	const { kinds, ...bounds } = filters;
	const given = Object.entries(bounds).filter(([, bound]) => bound !== undefined);
	return {
		...(search === '' ? {} : { search }),
		...(kinds ? { kind: kinds.join(',') } : {}),
		...Object.fromEntries(given.map(([name, bound]) => [name, String(bound)])),
	};
}

/** The largest value of each bound that the page can show. */
const bounds = { minSize: Number.MAX_SAFE_INTEGER, maxSize: Number.MAX_SAFE_INTEGER, after: 8.64e15, before: 8.64e15 };

/** Parses the parameters of a search. An invalid filter is left out, and a term that is too long is cut. */
export function parseSearch(params: URLSearchParams): Search {
	const filters: SearchFilters = {};
	const kinds = schemas.searching.kind.safeParse(params.get('kind') ?? undefined).data;
	if (kinds) filters.kinds = searchKinds.filter((kind) => kinds.includes(kind));
	for (const name of ['minSize', 'maxSize', 'after', 'before'] as const) {
		const bound = schemas.searching[name].safeParse(params.get(name) ?? undefined).data;
		if (bound !== undefined && bound <= bounds[name]) filters[name] = bound;
	}
	return { search: (params.get('search') ?? '').slice(0, maxSearchLength), filters };
}
