import type { Job } from './jobs.js';

/** One thing that a page on screen should hear of, as its event stream carries it. */
export type Notification =
	| { kind: 'ticket'; ticket: string; sent: number; size: number; state: 'waiting' | 'sending' | 'done' | 'ended' }
	| { kind: 'job'; job: Job };

/**
 * Who hears it: the pages of a signed-in person, or whoever holds a ticket (a visitor has no name).
 */
export type Audience = { userId: string } | { ticket: string };

/** News for the event streams of pages, those of tickets for pages at any process over this database. They are hints: a page that missed one finds out by asking. */
export interface Notifications {
	publish(audience: Audience, item: Notification): void;
	/** Calls `listener` for each item sent to the audience until the returned function is called; of a ticket at first with the last one that there was, a moment later. */
	subscribe(audience: Audience, listener: (item: Notification) => void): () => void;
}
