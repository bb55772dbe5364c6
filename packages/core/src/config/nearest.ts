/** The name that takes the fewest changes of characters to become this text, whatever its case: what somebody may have meant. */
export function nearest(text: string, names: readonly string[]): string {
	const costs = names.map((name) => changes(text.toLowerCase(), name.toLowerCase()));
	return names[costs.indexOf(Math.min(...costs))] ?? '';
}

/** Longer texts are no slips of a setting's name. */
const maxLength = 200;

/** The Levenshtein distance. */
function changes(from: string, to: string): number {
	let row = Array.from({ length: to.length + 1 }, (_, at) => at);
	for (const [index, letter] of [...from.slice(0, maxLength)].entries()) {
		const next = [index + 1];
		for (let at = 1; at <= to.length; at++) {
			const replaced = (row[at - 1] ?? 0) + (letter === to[at - 1] ? 0 : 1);
			next.push(Math.min(replaced, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
		}
		row = next;
	}
	return row.at(-1) ?? 0;
}
