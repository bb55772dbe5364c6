import type { StreamParser, StringStream } from '@codemirror/language';
import { yaml } from '@codemirror/legacy-modes/mode/yaml';

/** What the library takes for a key, for which it needs the cube of the length of a line of blanks. */
const keyPattern = String.raw`^\s*(?:[,\[\]{}&*!|>'"%@${'`'}][^\s'":]|[^,\[\]{}#&*!|>'"%@${'`'}])[^#]*?(?=\s*:($|\s))`;

/** The library's grammar, with a scanner in the place of that pattern: each line is read in a moment, wherever it stands. */
export const yamlGrammar: StreamParser<unknown> = {
	...yaml,
	token(stream, state) {
		if (!Object.hasOwn(stream, 'match')) scanKeys(stream);
		return yaml.token(stream, state);
	},
};

function scanKeys(stream: StringStream): void {
	const match = stream.match.bind(stream);
	stream.match = (pattern, ...options) => {
		if (!(pattern instanceof RegExp && pattern.source === keyPattern)) return match(pattern as RegExp, ...options);
		const end = endOfKey(stream.string, stream.pos);
		if (end === undefined) return null;
		stream.pos = end;
		return true;
	};
}

/** Where a key ends that begins here, perhaps behind blanks, as the pattern finds it; undefined if there is none. */
export function endOfKey(line: string, from: number): number | undefined {
	const spaces = /\s*/y;
	spaces.lastIndex = from;
	spaces.test(line);
	const first = spaces.lastIndex;
	const begun = /[,[\]{}&*!|>'"%@`][^\s'":]|[^\s,[\]{}#&*!|>'"%@`]/y;
	begun.lastIndex = first;
	const end = begun.test(line) ? endBeforeColon(line, begun.lastIndex) : undefined;
	// Without a character of a key the blanks before the colon are taken for one.
	return end ?? (first > from ? endBeforeColon(line, first) : undefined);
}

/** Where the blanks before the first colon begin that has one behind it or ends the line; undefined behind a `#`. */
function endBeforeColon(line: string, from: number): number | undefined {
	const comment = line.indexOf('#', from);
	for (let colon = line.indexOf(':', from); colon >= 0; colon = line.indexOf(':', colon + 1)) {
		if (comment >= 0 && comment < colon) return undefined;
		if (colon + 1 < line.length && !isBlank(line, colon + 1)) continue;
		let end = colon;
		while (end > from && isBlank(line, end - 1)) end--;
		return end;
	}
	return undefined;
}

const isBlank = (line: string, at: number) => line.charAt(at).trim() === '';
