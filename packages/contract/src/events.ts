import { rootPath } from '@stowage/rules';
import { z } from 'zod';
import { endpoint } from './define.js';
import { job } from './jobs.js';
import { area, path } from './schemas.js';

/** The most tickets of one stream. */
export const maxFollowedTickets = 32;

const ticket = z.string().min(1).max(256);

/** Tickets whose events are in a stream. */
export const followedTickets = z
	.union([ticket, z.array(ticket).max(maxFollowedTickets)])
	.default([])
	.transform((tickets) => [tickets].flat());

/**
 * A stream of server-sent events: `changed` for one folder, `job`, `ticket`, `trash` and `shared` for the caller. A
 * visitor gets those of the tickets in the query.
 */
export const events = endpoint({
	method: 'GET',
	path: '/api/events',
	query: z.object({
		type: area.default('public'),
		directory: path.default(rootPath),
		ticket: followedTickets,
	}),
});

/** The JSON of the stream's events, by their names. */
export const eventData = {
	/** The folder's listing may have changed. */
	changed: z.object({ type: area, directory: z.string() }),
	/** `changed`: what was sent can't be completed, since a file of it was changed; another request gets all anew. */
	ticket: z.object({
		ticket: z.string(),
		sent: z.number(),
		size: z.number(),
		state: z.enum(['waiting', 'sending', 'changed', 'done', 'ended']),
	}),
	/** A job is new, has progressed or has ended. */
	job: z.object({ job }),
	/** The caller's trash may have changed. */
	trash: z.object({}),
	/** Other folders are shared with the caller or by them, or with other members or roles. */
	shared: z.object({}),
};
