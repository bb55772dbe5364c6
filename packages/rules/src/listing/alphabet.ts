import { collate } from '../names/nameKeys.js';

/** The buttons of the alphabet filter (spec, section 2). */
export const letterFilters = ['ALL', '#', ...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'] as const;

/** `ALL`, `#` for names that start with a digit, or a letter. */
export type LetterFilter = (typeof letterFilters)[number];

/** Whether a name passes the filter. The case and the accents of its first character are ignored. */
export function matchesLetter(name: string, filter: LetterFilter): boolean {
	if (filter === 'ALL') return true;
	if (filter === '#') return /^\p{Nd}/u.test(name);
	const first = String.fromCodePoint(name.codePointAt(0) ?? 0);
	return collate(first, filter) === 0;
}
