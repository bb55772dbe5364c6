import { type eventData, maxFollowedTickets } from '@stowage/contract';
import type { z } from 'zod';

/** How much of a ticket's download the server has sent. */
export type TicketEvent = z.output<typeof eventData.ticket>;

type TicketListener = (event: TicketEvent) => void;

const listenersByTicket = new Map<string, Set<TicketListener>>();
const subscriptionListeners = new Set<() => void>();
let tickets: readonly string[] = [];

/**
 * Calls `listener` with the events of a ticket while a folder is on screen, until the returned function is called.
 * Events are hints: after a lost connection or in a hidden tab some are missing.
 */
export function subscribeToTicket(ticket: string, listener: TicketListener): () => void {
	const listeners = listenersByTicket.get(ticket) ?? new Set();
	listenersByTicket.set(ticket, listeners.add(listener));
	updateTickets();
	return () => {
		listeners.delete(listener);
		if (listeners.size === 0 && listenersByTicket.get(ticket) === listeners) listenersByTicket.delete(ticket);
		updateTickets();
	};
}

/** Passes an event to the subscribers of its ticket. */
export function publishTicketEvent(event: TicketEvent): void {
	for (const listener of [...(listenersByTicket.get(event.ticket) ?? [])]) listener(event);
}

/** The tickets with subscribers, only the last ones if a stream can't name them all. The same array until the list changes. */
export function subscribedTickets(): readonly string[] {
	return tickets;
}

/** Calls back when `subscribedTickets` has changed. */
export function subscribeToTicketList(onChange: () => void): () => void {
	subscriptionListeners.add(onChange);
	return () => subscriptionListeners.delete(onChange);
}

function updateTickets(): void {
	const last = [...listenersByTicket.keys()].slice(-maxFollowedTickets);
	if (last.length === tickets.length && last.every((ticket, index) => ticket === tickets[index])) return;
	tickets = last;
	for (const onChange of [...subscriptionListeners]) onChange();
}
