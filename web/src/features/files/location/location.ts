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

/** A folder as a list shows it, or a search in it. The URL is its only store. */
export interface FolderLocation extends Search {
	directory: StoragePath;
	sort: SortMode;
}

/** The location of the file browser. */
export interface BrowserLocation extends FolderLocation {
	area: Area;
}

/** A location on the page of a share. */
export interface ShareLocation extends FolderLocation {
	token: string;
}

const route = '/browser';

/** Parses the URL; undefined for a path that no folder can have. Other invalid parts have their defaults. */
export function parseLocation(pathname: string, query: URLSearchParams): BrowserLocation | undefined {
	const folder = parseFolder(pathname.slice(route.length), query);
	return folder && { area: parseArea(query), ...folder };
}

function parseArea(query: URLSearchParams): Area {
	const type = query.get('type');
	return type === 'private' || type === 'shared' ? type : 'public';
}

/** The location in a share by its URL, `/s/{token}` or below. */
export function parseShareLocation(pathname: string, query: URLSearchParams): ShareLocation | undefined {
	const [, , token = '', ...segments] = pathname.split('/');
	const folder = parseFolder(segments.join('/'), query);
	return folder && { token, ...folder };
}

function parseFolder(path: string, query: URLSearchParams): FolderLocation | undefined {
	const directory = parseDirectory(path);
	if (directory === undefined) return undefined;
	const sort = query.get('sort') ?? '';
	return { directory, ...parseSearch(query), sort: isSortMode(sort) ? sort : defaultSortMode };
}

function parseDirectory(path: string): StoragePath | undefined {
	const segments = path.split('/').filter((segment) => segment !== '');
	try {
		// Decoded one by one, so that an encoded slash is refused instead of becoming a separator.
		const names = segments.map(decodeURIComponent);
		return names.some((name) => name.includes('/')) ? undefined : parsePath(names.join('/'));
	} catch {
		return undefined;
	}
}

/** The URL of a location, relative to the base path. */
export function hrefOf({ area, ...folder }: BrowserLocation): string {
	return folderAddress(route, folder, { type: area });
}

/** The URL of a location in a share. */
export function shareHref({ token, ...folder }: ShareLocation): string {
	return folderAddress(`/s/${token}`, folder, {});
}

function folderAddress(base: string, folder: FolderLocation, place: Record<string, string>): string {
	const { directory, sort, ...search } = folder;
	const query = new URLSearchParams({ ...place, ...searchParams(search) });
	if (sort !== defaultSortMode) query.set('sort', sort);
	// A comma needs no encoding, and kinds are easier to read with it.
	const text = query.toString().replaceAll('%2C', ',');
	const path = [base, ...pathSegments(directory).map(encodeURIComponent)].join('/');
	return text === '' ? path : `${path}?${text}`;
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

/** Identifies a listing of a source within a tab, whatever its sort mode. */
export function folderKey(place: string, { directory, ...search }: FolderLocation): string {
	return `${place}:${directory}?${new URLSearchParams(searchParams(search))}`;
}
