/** Longest search term, in the units of an input's `maxlength` (spec, section 5). */
export const maxSearchLength = 25;

/** A search stops at this many results and says that it was truncated. */
export const maxSearchResults = 1000;

/** Whether a name holds the term, taken literally and without regard to case. The empty term is in every name. */
export function matchesSearch(name: string, term: string): boolean {
	return foldCase(name).includes(foldCase(term));
}

function foldCase(text: string): string {
	// Lower case first and upper case last: it makes ß, ẞ and ss one, and σ and the ς at a word's end.
	return text.toLowerCase().toUpperCase();
}
