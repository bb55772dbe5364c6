import { type eventData, maxFollowedTickets } from '@stowage/contract';
import type { z } from 'zod';

/** How far the download of a ticket's URL is, as the server sees it. */
export type TicketNews = z.output<typeof eventData.ticket>;

const followers = new Map<string, Set<(news: TicketNews) => void>>();
const listeners = new Set<() => void>();
let followed: readonly string[] = [];

/**
 * Calls `hear` with the news of a ticket while a folder is on screen, until the returned function is called. News are hints: after a lost connection or a
 * hidden tab the last ones may be missing.
 */
export function followTicket(ticket: string, hear: (news: TicketNews) => void): () => void {
	const hearers = followers.get(ticket) ?? new Set();
	followers.set(ticket, hearers.add(hear));
	update();
	return () => {
		hearers.delete(hear);
		if (hearers.size === 0 && followers.get(ticket) === hearers) followers.delete(ticket);
		update();
	};
}

/** Hands news on to those who follow their ticket. */
export function tellTicket(news: TicketNews): void {
	for (const hear of [...(followers.get(news.ticket) ?? [])]) hear(news);
}

/** The tickets that somebody follows, the last ones of too many for one stream; the same array until there are others. */
export function followedTickets(): readonly string[] {
	return followed;
}

export function subscribeFollowedTickets(onChange: () => void): () => void {
	listeners.add(onChange);
	return () => listeners.delete(onChange);
}

function update(): void {
	const last = [...followers.keys()].slice(-maxFollowedTickets);
	if (last.length === followed.length && last.every((ticket, index) => ticket === followed[index])) return;
	followed = last;
	for (const onChange of [...listeners]) onChange();
}
