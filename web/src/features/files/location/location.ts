import {
	type Area,
	defaultSortMode,
	isSortMode,
	maxSearchLength,
	parsePath,
	pathSegments,
	rootPath,
	type SortMode,
	type StoragePath,
} from '@stowage/rules';

/** The location of the file browser. The URL is its only store. */
export interface BrowserLocation {
	area: Area;
	directory: StoragePath;
	/** `''` for the folder itself, not a search in it. */
	search: string;
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
		search: (query.get('search') ?? '').slice(0, maxSearchLength),
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
export function hrefOf({ area, directory, search, sort }: BrowserLocation): string {
	const query = new URLSearchParams({ type: area });
	if (search !== '') query.set('search', search);
	if (sort !== defaultSortMode) query.set('sort', sort);
	return `${[route, ...pathSegments(directory).map(encodeURIComponent)].join('/')}?${query}`;
}

/** Another folder or area with the same sort mode and without the search. */
export function toLocation(
	location: BrowserLocation,
	directory: StoragePath,
	area: Area = location.area,
): BrowserLocation {
	return { ...location, area, directory, search: '' };
}

/** Home is the area's root; from the root it is the landing page. */
export function homeHref(location: BrowserLocation): string {
	const isHome = location.directory === rootPath && location.search === '';
	return isHome ? '/' : hrefOf(toLocation(location, rootPath));
}

/** Identifies a listing within a tab, whatever its sort mode. */
export function folderKey({ area, directory, search }: BrowserLocation): string {
	return `${area}:${directory}?${search}`;
}
