import { SearchQuery } from '@codemirror/search';
import { EditorState, Text } from '@codemirror/state';

/** A search in a whole text. */
export interface SearchTask {
	text: string;
	search: string;
	caseSensitive: boolean;
	regexp: boolean;
	wholeWord: boolean;
	replace: string;
	/** Characters that the language of the text counts as parts of words. */
	wordChars: string;
}

export interface Matches {
	/** Three numbers for each match: where it begins, where it ends, and 1 if it may be replaced, since it cuts no character. */
	places: Int32Array<ArrayBuffer>;
	/** What replaces each match, or every match. */
	replacements: string | readonly string[];
}

/** All in all; a reference such as `$&` may stand there any number of times. */
const maxReplacementCharacters = 50_000_000;

/** All matches in a text, in their order. An expression may take any time for that: only to be called where it can be ended. */
export function findMatches(task: SearchTask): Matches {
	const { text, wordChars, ...config } = task;
	const state = EditorState.create({
		doc: Text.of(text.split('\n')),
		extensions: EditorState.languageData.of(() => [{ wordChars }]),
	});
	const cursor = new SearchQuery(config).getCursor(state) as Iterator<Found>;
	const replacement = unquoted(task.replace);
	const isSame = !task.regexp || !replacement.includes('$');
	const places: number[] = [];
	const replacements: string[] = [];
	let characters = 0;
	for (let next = cursor.next(); !next.done; next = cursor.next()) {
		const { from, to, precise, match } = next.value;
		places.push(from, to, precise ? 1 : 0);
		if (isSame || match === undefined) continue;
		const own = expanded(replacement, match);
		characters += own.length;
		if (characters > maxReplacementCharacters) throw new RangeError('The replacements are too long.');
		replacements.push(own);
	}
	return { places: Int32Array.from(places), replacements: isSame ? replacement : replacements };
}

interface Found {
	from: number;
	to: number;
	precise: boolean;
	/** Only for a regular expression. */
	match?: RegExpExecArray;
}

/** Reads the escapes of the editor's fields for ends of lines and tabs. */
function unquoted(text: string): string {
	return text.replace(/\\([nrt\\])/g, (_, character: string) => ({ n: '\n', r: '\r', t: '\t' })[character] ?? '\\');
}

/** The replacement with the groups of a match for `$1` and so on, the match for `$&` and `$` for `$$`. */
function expanded(replacement: string, match: RegExpExecArray): string {
	return replacement.replace(/\$([$&]|\d+)/g, (reference, name: string) => {
		if (name === '$') return '$';
		if (name === '&') return match[0];
		for (let length = name.length; length > 0; length--) {
			const group = Number(name.slice(0, length));
			if (group > 0 && group < match.length) return `${match[group] ?? ''}${name.slice(length)}`;
		}
		return reference;
	});
}
