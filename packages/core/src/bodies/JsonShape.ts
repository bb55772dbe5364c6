import { Failure } from '@stowage/rules';

/** Deepest nesting accepted: payloads of the contract reach three levels. */
const maxDepth = 16;

/** Values accepted in all; the largest selection has 400,000. A text of empty objects takes thirty times its length in memory. */
const maxValues = 500_000;

const quote = 0x22;
const backslash = 0x5c;

/** For each byte whether it has a meaning here: outside of strings, and inside of them. */
const shapes = marked('"{[}],');
const endsText = marked('"\\');

function marked(characters: string): Uint8Array {
	const marks = new Uint8Array(256);
	for (const byte of Buffer.from(characters)) marks[byte] = 1;
	return marks;
}

/** Where the next marked byte is; the end where there is none. Most bytes are of no interest, and there may be millions. */
function nextOf(marks: Uint8Array, chunk: Uint8Array, from: number): number {
	let at = from;
	while (at < chunk.length && marks[chunk[at] as number] === 0) at++;
	return at;
}

/**
 * Scans a JSON text as its bytes arrive, so that one that would take too much memory or stack is refused before it is parsed. It does not
 * check the syntax.
 */
export class JsonShape {
	#depth = 0;
	#values = 0;
	#isInString = false;
	#isEscaped = false;

	/** Throws `invalid` for a value that is nested too deeply and `tooLarge` for too many values. */
	add(chunk: Uint8Array): void {
		for (let at = 0; at < chunk.length; at++) {
			if (this.#isEscaped) {
				this.#isEscaped = false;
				continue;
			}
			at = nextOf(this.#isInString ? endsText : shapes, chunk, at);
			if (this.#isInString) this.#inString(chunk[at]);
			else this.#outside(chunk[at]);
		}
	}

	#inString(byte: number | undefined): void {
		if (byte === backslash) this.#isEscaped = true;
		else if (byte === quote) this.#isInString = false;
	}

	#outside(byte: number | undefined): void {
		switch (byte) {
			case quote:
				this.#isInString = true;
				break;
			case 0x7b: // {
			case 0x5b: // [
				this.#count();
				if (++this.#depth > maxDepth) throw new Failure('invalid', 'The JSON of the request is nested too deeply.');
				break;
			case 0x7d: // }
			case 0x5d: // ]
				this.#depth--;
				break;
			case 0x2c: // ,
				this.#count();
				break;
		}
	}

	#count(): void {
		if (++this.#values > maxValues) throw new Failure('tooLarge', 'The JSON of the request has too many values.');
	}
}
