/**
 * How many beginnings of a text can match at the same place of another text, each begun elsewhere: one for a word, all
 * of a line of dashes. A search that follows them side by side takes that many times as long.
 */
export function overlapsOf(text: string): number {
	// Of each beginning the longest other one that it ends in, and how many of those there are.
	const borders = new Int32Array(text.length + 1);
	const counts = new Int32Array(text.length + 1);
	let most = 0;
	for (let end = 1; end <= text.length; end++) {
		let border = end === 1 ? 0 : (borders[end - 1] as number);
		while (border > 0 && text[border] !== text[end - 1]) border = borders[border] as number;
		if (end > 1 && text[border] === text[end - 1]) border++;
		borders[end] = border;
		counts[end] = (counts[border] as number) + 1;
		most = Math.max(most, counts[end] as number);
	}
	return most;
}
