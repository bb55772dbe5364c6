/** Bytes that `text` takes as UTF-8; a lone surrogate counts as the three bytes of its replacement. */
export function utf8Length(text: string): number {
	let bytes = 0;
	// By code units: to iterate over the characters takes ten times as long, and a request may have megabytes of paths.
	for (let at = 0; at < text.length; at++) {
		const unit = text.charCodeAt(at);
		bytes += unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
		// A pair takes four.
		if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(at + 1))) {
			bytes++;
			at++;
		}
	}
	return bytes;
}

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit < 0xdc00;
const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit < 0xe000;

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
