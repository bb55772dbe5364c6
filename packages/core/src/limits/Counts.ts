/** How many, or how much, there is of each key. A key of which nothing is left takes no memory. */
export class Counts {
	readonly #counts = new Map<string, number>();

	/** How many keys there is anything of. */
	get size(): number {
		return this.#counts.size;
	}

	of(key: string): number {
		return this.#counts.get(key) ?? 0;
	}

	add(key: string, amount: number): void {
		const count = this.of(key) + amount;
		if (count > 0) this.#counts.set(key, count);
		else this.#counts.delete(key);
	}
}
