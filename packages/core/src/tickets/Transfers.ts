import type { Audience, ByteRange, Notifications, OpenFile } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';
import { EndSubscriptions } from '../events/EndSubscriptions.js';
import { throttle } from '../events/throttle.js';
import type { TicketDetails, Tickets } from './createTickets.js';
import { TicketParts } from './TicketParts.js';

/** Least time between two notifications of one ticket's progress. */
const spacingMs = 250;

/** Tickets of which it is remembered what was sent, so that who resumes a download goes on with its progress. */
const maxRemembered = 1000;

interface Running {
	/** Publishes how far it is, after a while. */
	publish(): void;
	/** What is being sent: another version of the content has other parts. */
	parts: TicketParts | undefined;
	isEnded: boolean;
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
	/** What was sent of tickets, in the order of their last transfers. */
	readonly #parts = new Map<string, TicketParts>();

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
			reporting: (file) => {
				running.parts = this.#partsOf(token, file);
				return withProgress(file, running.parts, () => {
					// No event follows the end.
					if (!running.isEnded) running.publish();
				});
			},
			leave: () => {
				stopListening();
				running.ends.delete(breakOff);
				// The ticket may have ended meanwhile, and another transfer begun that is refused only later.
				if (running.ends.size === 0 && this.#running.get(token) === running) this.#running.delete(token);
			},
		};
	}

	/** Breaks off all that is sent on a ticket, and publishes that it has ended. */
	end(token: string, ticket: TicketDetails): void {
		const running = this.#running.get(token) ?? this.#begin(token, ticket);
		this.#running.delete(token);
		this.#parts.delete(token);
		running.isEnded = true;
		running.publish();
		for (const end of [...running.ends]) end();
	}

	/** What was sent of this version of the content so far. */
	#partsOf(token: string, { item: { version, size } }: OpenFile): TicketParts {
		const known = this.#parts.get(token);
		const isSame = known !== undefined && known.version === version && known.size === size;
		const parts = isSame ? known : new TicketParts(version, size);
		this.#parts.delete(token);
		this.#parts.set(token, parts);
		const [oldest] = this.#parts.keys();
		if (this.#parts.size > maxRemembered && oldest !== undefined) this.#parts.delete(oldest);
		return parts;
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
		const running: Running = {
			publish: throttle(spacingMs, () => {
				const { parts, isEnded } = running;
				const { sent, state } = parts?.progress() ?? { sent: 0, state: 'waiting' };
				const progress = { sent, size: parts?.size ?? ticket.size, state: isEnded ? 'ended' : state } as const;
				for (const audience of audiences)
					notifications.publish(audience, { kind: 'ticket', ticket: token, ...progress });
			}),
			parts: this.#parts.get(token),
			isEnded: false,
			ends: new Set(),
		};
		this.#running.set(token, running);
		return running;
	}
}

/** Wraps the file: what is sent of it is noted in `parts`, and `publish` is called. */
function withProgress(file: OpenFile, parts: TicketParts, publish: () => void): OpenFile {
	const { size } = file.item;
	let wasChanged = false;
	let hasBegun = false;
	return {
		item: file.item,
		async *read(range?: ByteRange) {
			const { start, end } = range ?? { start: 0, end: size - 1 };
			const part = hasBegun ? parts.begin(start, end) : parts.beginResponse(start, end);
			hasBegun = true;
			let isChanged = false;
			try {
				publish();
				for await (const chunk of file.read(range)) {
					const { length } = chunk;
					yield chunk;
					// The next chunk is requested once this one has left the process.
					part.head += length;
					publish();
				}
			} catch (error) {
				// Before the first byte it is tried again.
				isChanged = part.head > start && isFailure(error, 'conflict');
				throw error;
			} finally {
				parts.end(part, isChanged || wasChanged);
				publish();
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
