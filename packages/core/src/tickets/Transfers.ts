import type { Audience, ByteRange, Notification, Notifications, OpenFile } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';
import { EndSubscriptions } from '../events/EndSubscriptions.js';
import { throttle } from '../events/throttle.js';
import type { TicketDetails, Tickets } from './createTickets.js';

/** Least time between two notifications of one ticket's progress. */
const spacingMs = 250;

type State = Extract<Notification, { kind: 'ticket' }>['state'];

type Report = (sent: number, size: number, state: State) => void;

interface Running {
	report: Report;
	ends: Set<() => void>;
}

interface Dependencies {
	notifications: Notifications;
	tickets: Pick<Tickets, 'findEnded'>;
	/** Calls `onEnd` once the session has ended, until the returned function is called. */
	onSessionEnd(session: string, onEnd: () => void): () => void;
	/** How often it is looked up whether tickets were ended in another process. @default 2 s */
	pollMs?: number;
}

/** One response that sends the content of a ticket. */
export interface Transfer {
	/** Wraps the file: its progress is published while it is read. */
	reporting(file: OpenFile): OpenFile;
	leave(): void;
}

/** The transfers of tickets by this process, and their progress. */
export class Transfers {
	readonly #running = new Map<string, Running>();
	readonly #subscriptions: EndSubscriptions;

	constructor(readonly dependencies: Dependencies) {
		const { tickets, pollMs = 2_000 } = dependencies;
		this.#subscriptions = new EndSubscriptions(pollMs, (tokens) => tickets.findEnded(tokens));
	}

	/** A transfer begins. `breakOff` is called when the ticket or its session ends, in whatever process, until the transfer is left. */
	enter(token: string, ticket: TicketDetails, breakOff: () => void): Transfer {
		const running = this.#running.get(token) ?? this.#begin(token, ticket);
		running.ends.add(breakOff);
		const stopListening = this.#onEnd(token, ticket, () => this.end(token, ticket));
		return {
			reporting: (file) => withProgress(file, running.report),
			leave: () => {
				stopListening();
				running.ends.delete(breakOff);
				if (running.ends.size === 0) this.#running.delete(token);
			},
		};
	}

	/** Breaks off all that is sent on a ticket, and publishes that it has ended. */
	end(token: string, ticket: TicketDetails): void {
		const running = this.#running.get(token) ?? this.#begin(token, ticket);
		this.#running.delete(token);
		running.report(0, ticket.size, 'ended');
		for (const end of [...running.ends]) end();
	}

	#onEnd(token: string, { user }: TicketDetails, end: () => void): () => void {
		const { onSessionEnd } = this.dependencies;
		const unsubscribe = user === undefined ? () => {} : onSessionEnd(user.session, end);
		const unsubscribeTicket = this.#subscriptions.subscribe(token, end);
		return () => {
			unsubscribeTicket();
			unsubscribe();
		};
	}

	#begin(token: string, ticket: TicketDetails): Running {
		const { notifications } = this.dependencies;
		const audiences: Audience[] = [{ ticket: token }];
		if (ticket.user !== undefined) audiences.push({ userId: ticket.user.id });
		let latest = { sent: 0, size: ticket.size, state: 'waiting' as State };
		const publish = throttle(spacingMs, () => {
			for (const audience of audiences) notifications.publish(audience, { kind: 'ticket', ticket: token, ...latest });
		});
		const running: Running = {
			report(sent, size, state) {
				// No event follows the end.
				if (latest.state === 'ended') return;
				latest = { sent: state === 'ended' ? latest.sent : sent, size, state };
				publish();
			},
			ends: new Set(),
		};
		this.#running.set(token, running);
		return running;
	}
}

/** Wraps the file: `report` is told how far it has been sent. */
function withProgress(file: OpenFile, report: Report): OpenFile {
	const { size } = file.item;
	let wasChanged = false;
	return {
		item: file.item,
		async *read(range?: ByteRange) {
			const begin = range?.start ?? 0;
			let sent = begin;
			let isChanged = false;
			try {
				report(sent, size, 'sending');
				for await (const chunk of file.read(range)) {
					const { length } = chunk;
					yield chunk;
					// The next chunk is requested once this one has left the process.
					sent += length;
					report(sent, size, 'sending');
				}
			} catch (error) {
				// Before the first byte it is tried again.
				isChanged = sent > begin && isFailure(error, 'conflict');
				throw error;
			} finally {
				report(sent, size, sent === size ? 'done' : isChanged || wasChanged ? 'changed' : 'waiting');
			}
		},
		async isChanged(options) {
			const isChanged = await file.isChanged(options);
			wasChanged ||= isChanged;
			return isChanged;
		},
		close: () => file.close(),
	};
}
