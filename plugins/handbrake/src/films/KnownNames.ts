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
