import { Failure } from '../failure.js';
import { hasLoneSurrogate, utf8Length } from './text.js';

declare const storagePath: unique symbol;

/**
 * A checked path: segments joined by `/`, no leading or trailing slash, `''` for the root. No segment is empty, `.`
 * or `..`, holds a NUL, a control character, a backslash or a lone surrogate, or takes more than 255 bytes of UTF-8.
 * Only `parsePath` and the functions here make one, so a function that takes a StoragePath need not check again.
 */
export type StoragePath = string & { readonly [storagePath]: true };

export const rootPath = '' as StoragePath;

/** Longest name in bytes of UTF-8, as ext4, XFS, Btrfs and APFS have it. */
export const maxNameBytes = 255;

/** Longest whole path in bytes. Linux refuses 4,096 in one call; opened level by level, paths here may be longer. */
const maxPathBytes = 64 * 1024;

/** The deepest level of which a storage lists the items. A walk opens each folder from the root, which takes the square of the depth. */
export const maxListedDepth = 1000;

/** What a path may have above that: the items of a tree may lie deeper in a folder of the storage itself, such as that of the trash. */
const furtherLevels = 24;
const furtherBytes = 4096;
const maxLevels = maxListedDepth + furtherLevels;

/** Unicode's category Cc, and the backslash. */
const unusableCharacter = /[\u0000-\u001F\u007F-\u009F\\]/;

/** A character takes three bytes at most, or two of them four. */
const bytesPerUnit = 3;

/** Whether a single segment can be addressed. This is the rule for existing entries; `isValidName` holds for new ones. */
export function isPathSegment(segment: string): boolean {
	return !segment.includes('/') && hasUsableCharacters(segment) && isUsableSegment(segment);
}

/** Parses a path as clients send it. Throws `invalidPath` for one that breaks the rule of StoragePath. */
export function parsePath(text: string): StoragePath {
	if (text === '') return rootPath;
	// First what costs least: a list may have thousands of paths, of a thousand levels each.
	if (text.length > maxPathBytes || !hasUsableCharacters(text)) throw invalidPath();
	const segments = text.split('/');
	if (segments.length > maxLevels || isLonger(text, maxPathBytes)) throw invalidPath();
	if (!segments.every(isUsableSegment)) throw invalidPath();
	return text as StoragePath;
}

/** Appends segments to a folder. Only these are parsed, so that an item of a deep folder costs no more than one of any other. */
export function joinPath(folder: StoragePath, ...rest: string[]): StoragePath {
	return joinChecked(folder, parsePath(rest.filter((part) => part !== '').join('/')));
}

/** As `joinPath`, for a path that is checked as well, and not parsed again. */
export function joinChecked(folder: StoragePath, path: StoragePath): StoragePath {
	if (folder === '' || path === '') return folder === '' ? path : folder;
	const joined = `${folder}/${path}` as StoragePath;
	if (isShort(joined)) return joined;
	const [above, below] = [sizeOf(folder), sizeOf(path)];
	if (above.levels + below.levels > maxLevels || above.bytes + below.bytes >= maxPathBytes) throw invalidPath();
	return joined;
}

/** The sizes of a few long folders: of most of them all items are asked for, one after another. */
const knownSizes = new Map<StoragePath, { levels: number; bytes: number }>();
const maxKnown = 16;

function sizeOf(path: StoragePath): { levels: number; bytes: number } {
	const known = knownSizes.get(path);
	if (known !== undefined) return known;
	const size = { levels: pathDepth(path), bytes: utf8Length(path) };
	if (isShort(path)) return size;
	if (knownSizes.size === maxKnown) knownSizes.clear();
	knownSizes.set(path, size);
	return size;
}

/** Whether no path of so few characters is too deep or too long. Each level takes two characters at least. */
function isShort(path: string): boolean {
	return path.length < 2 * maxLevels;
}

function hasUsableCharacters(text: string): boolean {
	return !unusableCharacter.test(text) && !hasLoneSurrogate(text);
}

function isUsableSegment(segment: string): boolean {
	return segment !== '' && segment !== '.' && segment !== '..' && !isLonger(segment, maxNameBytes);
}

function isLonger(text: string, bytes: number): boolean {
	return text.length * bytesPerUnit > bytes && utf8Length(text) > bytes;
}

function invalidPath(): Failure {
	return new Failure('invalidPath', 'That is not a valid path.');
}

/**
 * Tells of the names in a folder which ones are listed. Others make a path that is too deep or too long to be asked for: by moves, and by
 * other programs, folders get as deep as somebody likes.
 */
export function listedNames(folder: StoragePath): (name: string) => boolean {
	if (pathDepth(folder) >= maxListedDepth) return () => false;
	const room = maxPathBytes - furtherBytes - utf8Length(folder) - 1;
	return room >= maxNameBytes ? () => true : (name) => utf8Length(name) <= room;
}

/** The failure of a copy that would lack what is not listed, or have what is not. */
export function tooDeepToCopy(): Failure {
	return new Failure('invalid', `Folders can’t be copied to more than ${maxListedDepth} levels within each other.`);
}

/** The parent folder of `path`; the root is its own parent. */
export function parentPath(path: StoragePath): StoragePath {
	return path.slice(0, Math.max(0, path.lastIndexOf('/'))) as StoragePath;
}

/** The last segment; `''` for the root. */
export function baseName(path: StoragePath): string {
	return path.slice(path.lastIndexOf('/') + 1);
}

export function pathSegments(path: StoragePath): string[] {
	return path === '' ? [] : path.split('/');
}

/** The path in a URL: each segment is percent-encoded exactly once. */
export function encodePath(path: string): string {
	return path.split('/').map(encodeURIComponent).join('/');
}

/** The number of segments: how many levels below the root the path is. */
export function pathDepth(path: StoragePath): number {
	if (path === '') return 0;
	let depth = 1;
	for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) depth++;
	return depth;
}

/**
 * The paths of the folders that `path` lies in, outermost first, and its own. They are cut from it: to join and check each one anew takes
 * the square of their number.
 */
export function pathsTo(path: StoragePath): StoragePath[] {
	const paths: StoragePath[] = [];
	for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
		paths.push(path.slice(0, end) as StoragePath);
	}
	return path === '' ? [] : [...paths, path];
}

/** Whether `path` is `folder` or anywhere below it. */
export function isWithin(path: StoragePath, folder: StoragePath): boolean {
	// Compared with a separator, or `report2` would pass as inside `report`: without a text for the two, which a long path takes ten times as
	// long to be compared with.
	const { length } = folder;
	return length === 0 || path === folder || (path[length] === '/' && path.slice(0, length) === folder);
}

/** `path` relative to `folder`, which must contain it. */
export function relativePath(path: StoragePath, folder: StoragePath): StoragePath {
	if (!isWithin(path, folder)) throw invalidPath();
	return (folder === '' ? path : path.slice(folder.length + 1)) as StoragePath;
}
