/** Bytes that `text` takes as UTF-8; a lone surrogate counts as the three bytes of its replacement. */
export function utf8Length(text: string): number {
	let bytes = 0;
	for (const character of text) {
		const point = character.codePointAt(0) ?? 0;
		bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
	}
	return bytes;
}

/** The longest beginning of `text` that takes at most `bytes` as UTF-8, cut between code points. */
export function truncateToBytes(text: string, bytes: number): string {
	let used = 0;
	let end = 0;
	for (const character of text) {
		used += utf8Length(character);
		if (used > bytes) break;
		end += character.length;
	}
	return text.slice(0, end);
}

/** A text with a lone surrogate has no UTF-8 form, so it can't be the name of a file. */
export function hasLoneSurrogate(text: string): boolean {
	return /[\uD800-\uDFFF]/u.test(text);
}
