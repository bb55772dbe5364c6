/** Names, whole or by how they begin or look. */
export class KnownNames {
	readonly #names: ReadonlySet<string>;
	readonly #patterns: readonly RegExp[];

	constructor(names: readonly string[], patterns: readonly RegExp[]) {
		this.#names = new Set(names);
		this.#patterns = patterns;
	}

	has(name: string): boolean {
		return this.#names.has(name) || this.#patterns.some((pattern) => pattern.test(name));
	}
}

/** Longer ones are shown of no film. */
const maxKept = 100;

/** The beginning of a name from a longer text, as a copy: a part of a text holds on to all of it for as long as it is kept. */
export const keptName = (name: string): string => Buffer.from(name.slice(0, maxKept)).toString();

const maxNames = 10;
const maxName = 50;

/** Names in a sentence: whoever made the film chose how many and how long they are. */
export function someOf(names: readonly string[]): string {
	const some = names.slice(0, maxNames).map((name) => (name.length > maxName ? `${name.slice(0, maxName)}…` : name));
	return `${some.join(', ')}${names.length > maxNames ? ` and ${names.length - maxNames} more` : ''}`;
}
