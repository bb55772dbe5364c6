import type { Scanner } from '../reading/scanner.js';

/** A part of a file. */
export interface ByteSpan {
	from: number;
	to: number;
}

/** Some 15 hours of video and sound, each picture and sound of which lies by itself; as many take 64 MB. */
const mostSpans = 4_000_000;
/** They are put in order by as much of the file at a time, in which no film has so many. */
const windowBytes = 2 ** 22;
const mostOfWindow = 50_000;
/** Of half a terabyte. Each takes memory by itself, and tables may name places behind any file. */
const mostWindows = 2 ** 17;

/** The bytes of a file that its tables name, and those between them. */
export class NamedBytes {
	/** The beginnings and ends of spans in turn, by the part of the file in which they begin. */
	readonly #windows = new Map<number, number[]>();
	#count = 0;
	#areKnown = true;

	/** Whether all that were named are kept: not when there were too many. */
	get areKnown(): boolean {
		return this.#areKnown;
	}

	/** Adds a span, in any order. */
	add(from: number, length: number): void {
		if (!this.#areKnown || !(length > 0) || !Number.isSafeInteger(from)) return;
		const number = Math.floor(from / windowBytes);
		const spans = this.#windows.get(number) ?? [];
		this.#windows.set(number, spans);
		const last = spans.length - 1;
		if (spans[last] === from) spans[last] = from + length;
		else {
			spans.push(from, from + length);
			this.#count++;
			this.#areKnown =
				this.#count <= mostSpans && spans.length <= 2 * mostOfWindow && this.#windows.size <= mostWindows;
		}
	}

	/** What is not named before a place, in order; the steps of the scanner are those of sorting. */
	async *gaps(before: number, scanner: Pick<Scanner, 'mayStep'>): AsyncGenerator<ByteSpan> {
		let namedTo = 0;
		for (const number of [...this.#windows.keys()].sort((a, b) => a - b)) {
			const spans = this.#windows.get(number) ?? [];
			await scanner.mayStep(spans.length);
			const sorted = Array.from({ length: spans.length / 2 }, (_, n) => ({
				from: spans[2 * n] as number,
				to: spans[2 * n + 1] as number,
			})).sort((a, b) => a.from - b.from);
			for (const { from, to } of sorted) {
				if (from > namedTo && namedTo < before) yield { from: namedTo, to: Math.min(from, before) };
				namedTo = Math.max(namedTo, to);
			}
		}
		if (namedTo < before) yield { from: namedTo, to: before };
	}
}
