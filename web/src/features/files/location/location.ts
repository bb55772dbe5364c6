import {
	type Area,
	defaultSortMode,
	isSortMode,
	parsePath,
	pathSegments,
	rootPath,
	type SortMode,
	type StoragePath,
} from '@stowage/rules';
import { isSearch, noSearch, parseSearch, type Search, searchParams } from '../../../api/listings/search.js';

/** The location of the file browser: a folder, or a search in it. The URL is its only store. */
export interface BrowserLocation extends Search {
	area: Area;
	directory: StoragePath;
	sort: SortMode;
}

const route = '/browser';

/** Parses the URL; undefined for a path that no folder can have. Other invalid parts have their defaults. */
export function parseLocation(pathname: string, query: URLSearchParams): BrowserLocation | undefined {
	const directory = parseDirectory(pathname);
	if (directory === undefined) return undefined;
	const sort = query.get('sort') ?? '';
	return {
		area: query.get('type') === 'private' ? 'private' : 'public',
		directory,
		...parseSearch(query),
		sort: isSortMode(sort) ? sort : defaultSortMode,
	};
}

function parseDirectory(pathname: string): StoragePath | undefined {
	const segments = pathname
		.slice(route.length)
		.split('/')
		.filter((segment) => segment !== '');
	try {
		// Decoded one by one, so that an encoded slash is refused instead of becoming a separator.
		const names = segments.map(decodeURIComponent);
		return names.some((name) => name.includes('/')) ? undefined : parsePath(names.join('/'));
	} catch {
		return undefined;
	}
}

/** The URL of a location, relative to the base path. */
export function hrefOf({ area, directory, sort, ...search }: BrowserLocation): string {
	const query = new URLSearchParams({ type: area, ...searchParams(search) });
	if (sort !== defaultSortMode) query.set('sort', sort);
	// A comma needs no encoding, and kinds are easier to read with it.
	const text = query.toString().replaceAll('%2C', ',');
	return `${[route, ...pathSegments(directory).map(encodeURIComponent)].join('/')}?${text}`;
}

/** The URL of a folder as it is first shown. */
export function folderHref(area: Area, directory: StoragePath): string {
	return hrefOf({ area, directory, ...noSearch, sort: defaultSortMode });
}

/** Another folder or area with the same sort mode and without the search. */
export function toLocation(
	location: BrowserLocation,
	directory: StoragePath,
	area: Area = location.area,
): BrowserLocation {
	return { ...location, area, directory, ...noSearch };
}

/** Home is the area's root; from the root it is the landing page. */
export function homeHref(location: BrowserLocation): string {
	const isHome = location.directory === rootPath && !isSearch(location);
	return isHome ? '/' : hrefOf(toLocation(location, rootPath));
}

/** Identifies a listing within a tab, whatever its sort mode. */
export function folderKey({ area, directory, ...search }: BrowserLocation): string {
	return `${area}:${directory}?${new URLSearchParams(searchParams(search))}`;
}
