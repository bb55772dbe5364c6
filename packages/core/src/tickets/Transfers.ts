import type { Audience, Notifications } from '@stowage/plugin-api';
import { throttle } from '../events/throttle.js';
import type { Ticket } from './createTickets.js';

/** Least time between two pieces of news about one ticket. */
const spacingMs = 250;

type State = 'waiting' | 'sending' | 'done' | 'ended';

interface Running {
	tell(sent: number, size: number, state: State): void;
	ends: Set<() => void>;
}

/** What goes out on tickets right now in this process, and the news of it. */
export class Transfers {
	readonly #running = new Map<string, Running>();

	constructor(readonly news: Notifications) {}

	/** A transfer begins: `end` breaks it off. The answer tells of its progress until `leave`. */
	enter(token: string, ticket: Ticket, end: () => void) {
		const running = this.#running.get(token) ?? this.#begin(token, ticket);
		running.ends.add(end);
		return {
			tell: running.tell,
			leave: () => {
				running.ends.delete(end);
				if (running.ends.size === 0) this.#running.delete(token);
			},
		};
	}

	/** Breaks off all that goes out on a ticket, and tells that it has ended. */
	end(token: string, ticket: Ticket): void {
		const running = this.#running.get(token) ?? this.#begin(token, ticket);
		this.#running.delete(token);
		running.tell(0, ticket.size, 'ended');
		for (const end of [...running.ends]) end();
	}

	#begin(token: string, ticket: Ticket): Running {
		const audiences: Audience[] = [{ ticket: token }];
		if (ticket.user !== undefined) audiences.push({ userId: ticket.user.id });
		let latest = { sent: 0, size: ticket.size, state: 'waiting' as State };
		const send = throttle(spacingMs, () => {
			for (const audience of audiences) this.news.publish(audience, { kind: 'ticket', ticket: token, ...latest });
		});
		const running: Running = {
			tell(sent, size, state) {
				// Nothing comes after the end.
				if (latest.state === 'ended') return;
				latest = { sent: state === 'ended' ? latest.sent : sent, size, state };
				send();
			},
			ends: new Set(),
		};
		this.#running.set(token, running);
		return running;
	}
}
