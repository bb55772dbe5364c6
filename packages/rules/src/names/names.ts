import { Failure } from '../failure.js';
import { maxNameBytes } from './paths.js';
import { hasLoneSurrogate, truncateToBytes, utf8Length } from './text.js';

/** The spec's sentence for a name that can't be given (section 5). */
export const invalidNameMessage = 'File name cannot be empty or contain invalid characters (< > : " / \\ | ? *)';

const forbiddenCharacter = /[<>:"/\\|?*\u0000-\u001F\u007F-\u009F]/;

/** Whether an entry may get this name, once `normalizeName` trimmed it. */
export function isValidName(name: string): boolean {
	const trimmed = trimName(name);
	return (
		trimmed !== '' &&
		!forbiddenCharacter.test(trimmed) &&
		trimmed !== '.' &&
		trimmed !== '..' &&
		!hasLoneSurrogate(trimmed) &&
		utf8Length(trimmed) <= maxNameBytes
	);
}

/** The name as it is stored: outer white space trimmed, all else kept. Throws `invalidName` with the spec's sentence. */
export function normalizeName(name: string): string {
	if (!isValidName(name)) throw new Failure('invalidName', invalidNameMessage);
	return trimName(name);
}

/**
 * A given name without the white space at its ends: all that JavaScript's `trim` takes away, such as a no-break space or a byte order
 * mark, but for control characters. A tab or a line feed stays, and is refused in any position.
 */
export function trimName(name: string): string {
	let start = 0;
	let end = name.length;
	// By hand: a pattern for the end would try every run of spaces inside of a long name.
	while (start < end && trimmedCharacter.test(name.charAt(start))) start++;
	while (end > start && trimmedCharacter.test(name.charAt(end - 1))) end--;
	return name.slice(start, end);
}

const trimmedCharacter = /[^\S\p{Cc}]/u;

/** Splits before the last dot that is not the first character: `a.tar.gz` is `a.tar` and `.gz`, `.env` has no extension. */
export function splitName(name: string): { base: string; extension: string } {
	const dot = name.lastIndexOf('.');
	return dot > 0 ? { base: name.slice(0, dot), extension: name.slice(dot) } : { base: name, extension: '' };
}

/** The number after which ` (copy)` is tried, and then nothing more. */
const lastNumber = 999;

/**
 * The names to try for an entry, in order: its own, then `name (1).ext` to `name (999).ext`, then `name (copy).ext`
 * (spec, section 5). A folder has no extension. A name that would grow past 255 bytes is shortened before its suffix. The first `skipped`
 * ones are left out.
 */
export function* candidateNames(name: string, type: 'file' | 'directory', skipped = 0): Generator<string, void> {
	if (skipped === 0) yield name;
	for (let n = Math.max(1, skipped); n <= lastNumber; n++) yield withSuffix(name, type, ` (${n})`);
	if (skipped <= lastNumber + 1) yield withSuffix(name, type, ' (copy)');
}

/** The name with a suffix before its extension, which a folder has not, of 255 bytes at most. */
export function withSuffix(name: string, type: 'file' | 'directory', suffix: string): string {
	const { base, extension } = type === 'file' ? splitName(name) : { base: name, extension: '' };
	const room = maxNameBytes - utf8Length(suffix);
	const shortened = truncateToBytes(base, room - utf8Length(extension));
	// If the extension alone is too long, there is no room for a base: then it is shortened as part of the name.
	return shortened === '' ? truncateToBytes(name, room) + suffix : shortened + suffix + extension;
}

/** One form of all names that a disk which ignores case, width or trailing dots could take for the same. */
export function foldedName(name: string): string {
	const folded = name.normalize('NFKC').toUpperCase();
	let end = folded.length;
	while (folded[end - 1] === '.' || folded[end - 1] === ' ') end--;
	return folded.slice(0, end);
}
