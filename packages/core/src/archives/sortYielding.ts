import type { Yielder } from '@stowage/plugin-api';

/** Items sorted at once, in some milliseconds. */
const runLength = 2048;

/** Sorts numbers by the text of each, as `<` compares it, and yields to the event loop meanwhile. */
export async function sortYielding(
	numbers: Uint32Array,
	textOf: (number: number) => string,
	yielder: Yielder,
	signal?: AbortSignal,
): Promise<void> {
	for (let start = 0; start < numbers.length; start += runLength) {
		if (yielder.shouldYield) await yielder.yield(signal);
		sortRun(numbers.subarray(start, start + runLength), textOf);
	}
	let from = numbers;
	let to = numbers.length > runLength ? new Uint32Array(numbers.length) : numbers;
	for (let width = runLength; width < numbers.length; width *= 2) {
		for (let start = 0; start < numbers.length; start += 2 * width) await merge(start, width);
		[from, to] = [to, from];
	}
	if (from !== numbers) numbers.set(from);

	/** Merges two adjacent sorted runs. */
	async function merge(start: number, width: number): Promise<void> {
		const middle = Math.min(start + width, numbers.length);
		const end = Math.min(middle + width, numbers.length);
		let [left, right] = [start, middle];
		const leftText = () => (left < middle ? textOf(from[left] as number) : undefined);
		const rightText = () => (right < end ? textOf(from[right] as number) : undefined);
		let [a, b] = [leftText(), rightText()];
		for (let at = start; at < end; at++) {
			if (yielder.shouldYield) await yielder.yield(signal);
			if (b === undefined || (a !== undefined && a < b)) {
				to[at] = from[left++] as number;
				a = leftText();
			} else {
				to[at] = from[right++] as number;
				b = rightText();
			}
		}
	}
}

function sortRun(numbers: Uint32Array, textOf: (number: number) => string): void {
	const named = Array.from(numbers, (number) => ({ number, text: textOf(number) }));
	named.sort((a, b) => (a.text < b.text ? -1 : 1));
	for (const [index, { number }] of named.entries()) numbers[index] = number;
}
