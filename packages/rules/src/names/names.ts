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

/** The numbers of candidates whose suffixes are equally long: 0 is the name itself, the last one is ` (copy)`. */
const runs = [
	{ first: 0, last: 0 },
	{ first: 1, last: 9 },
	{ first: 10, last: 99 },
	{ first: 100, last: 999 },
	{ first: 1000, last: 1000 },
] as const;

function candidate(name: string, type: 'file' | 'directory', n: number): string {
	if (n === 0) return name;
	return withSuffix(name, type, n === 1000 ? ' (copy)' : ` (${n})`);
}

/**
 * The names to try for an entry, in order: its own, then `name (1).ext` to `name (999).ext`, then `name (copy).ext`
 * (spec, section 5). A folder has no extension. A name that would grow past 255 bytes is shortened before its suffix.
 */
export function* candidateNames(name: string, type: 'file' | 'directory'): Generator<string, void> {
	for (const { first, last } of runs) for (let n = first; n <= last; n++) yield candidate(name, type, n);
}

/**
 * Which of the `candidateNames` are left for the entries of one folder, or thousands of them would each try all that others have got.
 * Long names that differ only at their ends are shortened to the same: they have the rest of a run in common.
 */
export class TriedNames {
	/** The next number of a run, by its first candidate. */
	readonly #next = new Map<string, number>();
	readonly #fold: (name: string) => string;

	/** Names with the same `fold` are one. */
	constructor(fold = (name: string) => name) {
		this.#fold = fold;
	}

	/** The candidates that nothing has got yet, and that nothing was in the way of. */
	*candidates(name: string, type: 'file' | 'directory'): Generator<string, void> {
		for (const { text } of this.#left(name, type)) yield text;
	}

	/** Records which of its candidates an entry has got: those before are taken. */
	record(name: string, type: 'file' | 'directory', got: string): void {
		const passed = new Map<string, number>();
		for (const { text, run, n } of this.#left(name, type)) {
			passed.set(run, n + 1);
			if (text !== got) continue;
			for (const [tried, next] of passed) this.#next.set(tried, next);
			return;
		}
	}

	*#left(name: string, type: 'file' | 'directory') {
		for (const { first, last } of runs) {
			const run = `${first} ${this.#fold(candidate(name, type, first))}`;
			for (let n = this.#next.get(run) ?? first; n <= last; n++) yield { text: candidate(name, type, n), run, n };
		}
	}
}

/** The name with a suffix before its extension, which a folder has not, of 255 bytes at most. */
export function withSuffix(name: string, type: 'file' | 'directory', suffix: string): string {
	const { base, extension } = type === 'file' ? splitName(name) : { base: name, extension: '' };
	const room = maxNameBytes - utf8Length(suffix);
	const shortened = truncateToBytes(base, room - utf8Length(extension));
	// If the extension alone is too long, there is no room for a base: then it is shortened as part of the name.
	return shortened === '' ? truncateToBytes(name, room) + suffix : shortened + suffix + extension;
}

const ignorable = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * One form of all names that a disk which ignores case, width or trailing dots could take for the same, or, as Linux can, characters of
 * which nothing is seen, such as U+00AD.
 */
export function foldedName(name: string): string {
	const folded = name.replace(ignorable, '').normalize('NFKC').toUpperCase();
	let end = folded.length;
	while (folded[end - 1] === '.' || folded[end - 1] === ' ') end--;
	return folded.slice(0, end);
}
