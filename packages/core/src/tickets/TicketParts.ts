import type { Notification } from '@stowage/plugin-api';
import { mergedParts, type Part } from '@stowage/rules';

/** Parts that are remembered of one ticket; of more the largest, or of what was broken off the latest. */
const maxParts = 100;

type State = Extract<Notification, { kind: 'ticket' }>['state'];

/** A range that is being sent. */
export interface RunningPart {
	readonly start: number;
	/** Up to where it has left the process. */
	head: number;
	/** Where it was asked to end, which is no part of it. */
	readonly limit: number;
}

/** How much of one version of what a ticket stands for has been sent, by whatever number of connections. */
export class TicketParts {
	#sent: readonly Part[] = [];
	/** What others have sent, as far as can be told. */
	#elsewhere: readonly Part[] = [];
	/** What was asked for here and not sent, of each range that was broken off. */
	#brokenOff: readonly Part[] = [];
	readonly #running = new Set<RunningPart>();
	#isChanged = false;

	constructor(
		readonly version: string,
		readonly size: number,
	) {}

	/** A response begins, with this range: `end` is part of it. */
	beginResponse(start: number, end: number): RunningPart {
		if (this.#running.size === 0) {
			const isAllAgain = this.progress().state === 'done' || (start === 0 && end >= this.size - 1);
			if (isAllAgain) [this.#sent, this.#brokenOff] = [[], []];
			// Whoever resumes has what is before, from another process or before a restart; of several connections each has its own part.
			this.#elsewhere = without(start, outside(this.#brokenOff, start));
		}
		return this.begin(start, end);
	}

	/** A further range of a response begins, up to `end`, which is part of it. */
	begin(start: number, end: number): RunningPart {
		this.#isChanged = false;
		this.#brokenOff = outside(this.#brokenOff, start);
		this.#elsewhere = this.#elsewhere.map(([from, to]): Part => [from, Math.min(to, start)]);
		const part = { start, head: start, limit: end + 1 };
		this.#running.add(part);
		return part;
	}

	/** No more of it is sent; `isChanged` says that it can't be, since the content is another one by now. */
	end(part: RunningPart, isChanged: boolean): void {
		const { start, head, limit } = part;
		this.#running.delete(part);
		this.#isChanged ||= isChanged;
		if (head < limit) this.#brokenOff = [...this.#brokenOff, [head, limit] as const].slice(-maxParts);
		const sent = mergedParts([...this.#sent, [start, head]]);
		this.#sent =
			sent.length <= maxParts ? sent : sent.sort((one, other) => lengthOf(other) - lengthOf(one)).slice(0, maxParts);
	}

	progress(): { sent: number; state: State } {
		const running = [...this.#running].map(({ start, head }): Part => [start, head]);
		const parts = mergedParts([...this.#elsewhere, ...this.#sent, ...running]);
		const sent = parts.reduce((sum, part) => sum + lengthOf(part), 0);
		return { sent, state: this.#state(sent) };
	}

	#state(sent: number): State {
		if (sent >= this.size) return 'done';
		if (this.#running.size > 0) return 'sending';
		return this.#isChanged ? 'changed' : 'waiting';
	}
}

const lengthOf = ([start, end]: Part) => end - start;

/** The parts in which `at` is not. */
function outside(parts: readonly Part[], at: number): Part[] {
	return parts.filter(([from, to]) => at < from || at >= to);
}

/** The bytes before `end` that are in none of these parts. */
function without(end: number, parts: readonly Part[]): Part[] {
	const others: Part[] = [];
	let at = 0;
	for (const [from, to] of mergedParts(parts)) {
		others.push([at, Math.min(from, end)]);
		at = to;
	}
	return [...others, [at, end]];
}
