/** Called with the bytes before a boundary, or of which none is one. They are those that were pushed, not a copy. */
export type Report = (
	isBoundary: boolean,
	bytes: Buffer | undefined,
	start: number,
	end: number,
	isStable: boolean,
) => void;

const carriageReturn = 0x0d;

/** The most bytes that are read of a line behind its boundary. */
const maxLineEnd = 1024;

/**
 * Finds the boundaries in the bytes of a form, in place of busboy's own search and with its calls: that goes through
 * the bytes in JavaScript, which took more time than all else that a large form takes. Of the line of a boundary it reports the line
 * break or the two dashes. busboy would drop all behind any other, up to the next boundary: a part that has blanks in the line before it
 * (RFC 2046, section 5.1.1: padding), or the rest of a file in which a line begins with the boundary.
 */
export class BoundarySearch {
	readonly #boundary: Buffer;
	readonly #report: Report;
	readonly #onMalformed: () => void;
	/** The last bytes, as far as they may begin a boundary, or the end of its line. */
	#rest: Buffer = Buffer.alloc(0);
	#isBehindBoundary = false;
	#isStopped = false;

	/**
	 * The boundary begins with CR LF, and has no other CR (RFC 2046, section 5.1.1). `onMalformed` is called, and nothing is reported any
	 * more, where the line of a boundary has anything else.
	 */
	constructor(boundary: Buffer, report: Report, onMalformed = () => {}) {
		this.#boundary = boundary;
		this.#report = report;
		this.#onMalformed = onMalformed;
	}

	push(chunk: Buffer): number {
		const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
		let from = 0;
		while (!this.#isStopped) {
			if (this.#isBehindBoundary) from = this.#readLineEnd(bytes, from);
			if (this.#isStopped || this.#isBehindBoundary) break;
			const at = bytes.indexOf(this.#boundary, from);
			if (at === -1) break;
			if (at > from) this.#report(true, bytes, from, at, true);
			else this.#report(true, undefined, 0, 0, true);
			from = at + this.#boundary.length;
			this.#isBehindBoundary = true;
		}
		if (this.#isStopped) return chunk.length;
		const end = this.#isBehindBoundary ? from : this.#endOf(bytes, from);
		if (end > from) this.#report(false, bytes, from, end, true);
		// A copy, or a byte would hold the whole chunk.
		this.#rest = Buffer.from(bytes.subarray(end));
		return chunk.length;
	}

	/** Reports nothing from here on, also of the chunk at hand, in which thousands of parts may follow. */
	stop(): void {
		this.#isStopped = true;
		this.#rest = Buffer.alloc(0);
	}

	/** The form has ended: what was left begins no boundary. */
	destroy(): void {
		const rest = this.#rest;
		this.#rest = Buffer.alloc(0);
		if (rest.length > 0) this.#report(false, rest, 0, rest.length, true);
	}

	/** Reads the end of a boundary's line. Returns where it ends; where it begins while more of it is awaited. */
	#readLineEnd(bytes: Buffer, from: number): number {
		const line = bytes.toString('latin1', from, from + maxLineEnd);
		const [end] = /^[ \t]*\r\n/.exec(line) ?? [];
		if (end !== undefined) {
			const next = from + end.length;
			this.#isBehindBoundary = false;
			this.#report(false, bytes, next - 2, next, true);
			return next;
		}
		if (/^--[ \t\r\n]/.test(line)) {
			this.#report(false, bytes, from, from + 2, true);
			// What follows belongs to no part.
			this.stop();
		} else if (line.length === maxLineEnd || !/^(?:--?|[ \t]*\r?)$/.test(line)) {
			this.stop();
			this.#onMalformed();
		}
		return from;
	}

	/** Where the last bytes begin that may be the beginning of a boundary: at no CR but the last one. */
	#endOf(bytes: Buffer, from: number): number {
		const earliest = Math.max(from, bytes.length - this.#boundary.length + 1);
		const last = bytes.subarray(earliest);
		const at = last.lastIndexOf(carriageReturn);
		if (at === -1) return bytes.length;
		const beginning = last.subarray(at);
		return this.#boundary.subarray(0, beginning.length).equals(beginning) ? earliest + at : bytes.length;
	}
}
