import {
	type Area,
	defaultSortMode,
	isSortMode,
	joinPath,
	maxSearchLength,
	pathSegments,
	rootPath,
	type SortMode,
	type StoragePath,
} from '@stowage/rules';

/** Where the file browser is: all of it is in the URL and nowhere else. */
export interface BrowserLocation {
	area: Area;
	directory: StoragePath;
	/** `''` for the folder itself, not a search in it. */
	search: string;
	sort: SortMode;
}

const route = '/browser';

/** Reads the URL; undefined for a path that no folder can have. What else makes no sense is taken for its default. */
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
		// Decoded one by one and then checked, so that an encoded slash is refused and not taken for a separator.
		return segments.map(decodeURIComponent).reduce(inFolder, rootPath);
	} catch {
		return undefined;
	}
}

function inFolder(folder: StoragePath, name: string): StoragePath {
	if (name.includes('/')) throw new RangeError('A name holds no slash.');
	return joinPath(folder, name);
}

/** The URL of a place in the browser, relative to where the page is served. */
export function hrefOf({ area, directory, search, sort }: BrowserLocation): string {
	const query = new URLSearchParams({ type: area });
	if (search !== '') query.set('search', search);
	if (sort !== defaultSortMode) query.set('sort', sort);
	return `${[route, ...pathSegments(directory).map(encodeURIComponent)].join('/')}?${query}`;
}

/** Another folder, or the other area's root, in the same order and without the search. */
export function placeIn(
	location: BrowserLocation,
	directory: StoragePath,
	area: Area = location.area,
): BrowserLocation {
	return { ...location, area, directory, search: '' };
}

/** Home is the area's root, and from there the landing page. */
export function homeHref(location: BrowserLocation): string {
	const isHome = location.directory === rootPath && location.search === '';
	return isHome ? '/' : hrefOf(placeIn(location, rootPath));
}

/** Names a listing among those that one tab has seen; the order of its rows does not matter. */
export function folderKey({ area, directory, search }: BrowserLocation): string {
	return `${area}:${directory}?${search}`;
}
