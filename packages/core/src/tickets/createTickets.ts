import { randomBytes } from 'node:crypto';
import { schemas } from '@stowage/contract';
import type { SmallStore } from '@stowage/plugin-api';
import { Failure, type Owner } from '@stowage/rules';
import { z } from 'zod';
import type { Selection } from '../archives/freeze.js';

/** How long a ticket is good, and how long it is then remembered as one that was. */
const goodForMs = 12 * 60 * 60_000;
const rememberedMs = 24 * 60 * 60_000;

/** Clocks of several machines differ by less. */
const clockSkewMs = 5 * 60_000;

const ticketRow = z.object({
	/** On whose behalf the ticket gives things away; a visitor's has none. */
	user: z.object({ id: z.string(), username: z.string(), session: z.string() }).optional(),
	area: z.enum(['private', 'public']),
	items: z.array(z.object({ path: schemas.path, owner: z.string().nullable().optional() })),
	kind: z.enum(['file', 'archive']),
	name: z.string(),
	/** What the selection was when the ticket was made, or when it was last sent from its beginning. */
	version: z.string(),
	size: z.number(),
	endsAt: z.number(),
});

export type Ticket = Omit<z.output<typeof ticketRow>, 'area' | 'items'> & Selection;

export interface Tickets {
	/** Keeps a ticket; resolves to its token. */
	add(ticket: Omit<Ticket, 'endsAt'>): Promise<string>;
	/** Throws `expired` for one that has ended and `notFound` for one that never was, or long ago. */
	find(token: string): Promise<Ticket>;
	/** Remembers which bytes the next part of a download has to fit to. */
	change(token: string, ticket: Ticket, change: Pick<Ticket, 'version' | 'size'>): Promise<void>;
	/** Ends a ticket at once. Throws as `find` does. */
	end(token: string): Promise<Ticket>;
	/** Whether it was ended, in whatever process. */
	hasEnded(token: string): Promise<boolean>;
}

const ownedBy = (owner: Owner | undefined) => (owner === undefined ? {} : { owner });

const ticketEnded = () => new Failure('expired', 'This download has ended.');

/** Tickets by the hash of their token: 256 random bits that whoever has them may download with. */
export function createTickets(
	rows: SmallStore,
	ended: SmallStore,
	isSessionAlive: (session: string) => Promise<boolean>,
	now: () => number,
): Tickets {
	const tickets: Tickets = {
		async add(ticket) {
			const token = randomBytes(32).toString('base64url');
			await rows.set(token, { ...ticket, endsAt: now() + goodForMs }, rememberedMs);
			return token;
		},

		async find(token) {
			if (await tickets.hasEnded(token)) throw ticketEnded();
			const row = await rows.get(token);
			if (row === undefined) throw new Failure('notFound', 'There is no such download.');
			const parsed = ticketRow.parse(row);
			const ticket = { ...parsed, items: parsed.items.map(({ path, owner }) => ({ path, ...ownedBy(owner) })) };
			// One that ends later than one of now was made while the clock was wrong.
			if (now() >= ticket.endsAt || ticket.endsAt > now() + goodForMs + clockSkewMs) throw ticketEnded();
			if (ticket.user !== undefined && !(await isSessionAlive(ticket.user.session))) throw ticketEnded();
			return ticket;
		},

		async change(token, ticket, change) {
			await rows.set(token, { ...ticket, ...change }, Math.max(1, ticket.endsAt - goodForMs + rememberedMs - now()));
			// It may have been ended meanwhile; what ended stays so by a row of its own.
		},

		async end(token) {
			const ticket = await tickets.find(token);
			await ended.set(token, true, rememberedMs);
			await rows.remove(token);
			return ticket;
		},

		hasEnded: async (token) => (await ended.get(token)) !== undefined,
	};
	return tickets;
}
