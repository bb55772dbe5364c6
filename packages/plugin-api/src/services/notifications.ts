import type { Job } from './jobs.js';

/** One event for an open page, as its event stream sends it. `sent` and `size` are bytes. */
export type Notification =
	| {
			kind: 'ticket';
			ticket: string;
			sent: number;
			size: number;
			/** `changed`: what was sent can't be completed, since a file of it was changed. */
			state: 'waiting' | 'sending' | 'changed' | 'done' | 'ended';
	  }
	| { kind: 'job'; job: Job }
	/** The user's trash is another one than it was. */
	| { kind: 'trash' }
	/** Other folders are shared with the user or by them, or with other members or roles. */
	| { kind: 'shared' };

/** The recipients: the pages of a signed-in user, or of the holder of a ticket (a visitor has no name). */
export type Audience = { userId: string } | { ticket: string };

/**
 * Publishes to the event streams of pages, those of tickets, the trash and shared folders to pages at any process over
 * this database. Events are hints: a page that missed one fetches the state again.
 */
export interface Notifications {
	publish(audience: Audience, item: Notification): void;
	/**
	 * Calls `listener` for each item published to the audience until the returned function is called. For a ticket the latest item before
	 * is replayed first, asynchronously.
	 */
	subscribe(audience: Audience, listener: (item: Notification) => void): () => void;
}
