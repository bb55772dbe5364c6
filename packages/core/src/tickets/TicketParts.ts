import type { Notification } from '@stowage/plugin-api';
import { mergedParts, type Part } from '@stowage/rules';

/** Parts that are remembered of one ticket; of more the largest. */
const maxParts = 100;

type State = Extract<Notification, { kind: 'ticket' }>['state'];

/** A range that is being sent. */
export interface RunningPart {
	readonly start: number;
	/** Up to where it has left the process. */
	head: number;
}

/** How much of one version of what a ticket stands for has been sent, by whatever number of connections. */
export class TicketParts {
	#sent: readonly Part[] = [];
	readonly #running = new Set<RunningPart>();
	/** The least offset at which a range began. */
	#first: number | undefined;
	#isChanged = false;

	constructor(
		readonly version: string,
		readonly size: number,
	) {}

	/** A range begins to be sent, up to `end`, which is part of it. */
	begin(start: number, end: number): RunningPart {
		const isAllAgain = this.progress().state === 'done' || (start === 0 && end >= this.size - 1);
		if (this.#running.size === 0 && isAllAgain) {
			this.#sent = [];
			this.#first = undefined;
		}
		this.#isChanged = false;
		this.#first = Math.min(this.#first ?? start, start);
		const part = { start, head: start };
		this.#running.add(part);
		return part;
	}

	/** No more of it is sent; `isChanged` says that it can't be, since the content is another one by now. */
	end(part: RunningPart, isChanged: boolean): void {
		this.#running.delete(part);
		this.#isChanged ||= isChanged;
		const sent = mergedParts([...this.#sent, [part.start, part.head]]);
		this.#sent =
			sent.length <= maxParts ? sent : sent.sort((one, other) => lengthOf(other) - lengthOf(one)).slice(0, maxParts);
	}

	progress(): { sent: number; state: State } {
		const running = [...this.#running].map(({ start, head }): Part => [start, head]);
		// Whoever resumes has what is before: it was sent by another process, or before a restart.
		const before: Part = [0, this.#first ?? 0];
		const sent = mergedParts([before, ...this.#sent, ...running]).reduce((sum, part) => sum + lengthOf(part), 0);
		return { sent, state: this.#state(sent) };
	}

	#state(sent: number): State {
		if (sent >= this.size) return 'done';
		if (this.#running.size > 0) return 'sending';
		return this.#isChanged ? 'changed' : 'waiting';
	}
}

const lengthOf = ([start, end]: Part) => end - start;
