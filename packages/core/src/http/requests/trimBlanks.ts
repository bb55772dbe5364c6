/**
 * Without the blanks around it that HTTP has, spaces and tabs. `trim` and `\s` also take a byte A0 for one, since Node reads a header's
 * bytes as characters: for browsers and proxies it belongs to the name or value, so that what they have checked would not be what counts
 * here.
 */
export function trimBlanks(text: string): string {
	let start = 0;
	let end = text.length;
	while (start < end && isBlank(text[start])) start++;
	while (end > start && isBlank(text[end - 1])) end--;
	return text.slice(start, end);
}

const isBlank = (character: string | undefined) => character === ' ' || character === '\t';
