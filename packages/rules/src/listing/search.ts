/** Longest search term, in the units of an input's `maxlength` (spec, section 5). */
export const maxSearchLength = 25;

/** A search stops at this many results and marks them as truncated. */
export const maxSearchResults = 1000;

/** Whether a name contains the term, taken literally and ignoring case. Every name contains the empty term. */
export function matchesSearch(name: string, term: string): boolean {
	return foldCase(name).includes(foldCase(term));
}

function foldCase(text: string): string {
	// Lower case first and upper case last: it makes ß, ẞ and ss one, and σ and the ς at a word's end.
	return text.toLowerCase().toUpperCase();
}
