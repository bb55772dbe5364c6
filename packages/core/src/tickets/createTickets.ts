import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { type CounterStore, type TicketRecord, type TicketStore, Yielder } from '@stowage/plugin-api';
import { baseName, Failure, joinPath, noFreeSpace, type Owner, parentPath, parsePath } from '@stowage/rules';
import { z } from 'zod';
import { type ChosenItem, type KeptSelection, ownedBy, type Selection } from '../archives/makeManifest.js';
import { siteKey } from '../http/requests/proxy.js';
import type { DatabaseReserve } from '../limits/databaseReserve.js';
import { createKeyedMutex } from '../limits/keyedMutex.js';
import { rateLimited } from '../limits/rateLimited.js';
import { secretHash } from '../secretHash.js';

/** How long a ticket is valid, and how long it is answered with 410 after that. */
const ttlMs = 12 * 60 * 60_000;
const rowTtlMs = 24 * 60 * 60_000;

/** Clocks of several machines differ by less. */
const clockSkewMs = 5 * 60_000;

/** The size of a row besides its texts, with its indexes. */
const rowBytes = 1024;

const megabyte = 1024 * 1024;

/** The most bytes of tickets. Those of visitors and of users are counted apart, so that either can always make some. */
export const ticketLimits = { perHolder: 16 * megabyte, ofVisitors: 64 * megabyte, ofUsers: 64 * megabyte };

/**
 * Tickets that one client may create in a window: a page creates one for each ZIP. The clients of an IPv6 /48 may create as many as four
 * together.
 */
const maxTickets = 1_000;
const siteFactor = 4;
const windowMs = 10 * 60_000;

/** A ticket of less is made as long as the database has its reserve: who can't upload any more may still download. */
const smallBytes = 64 * 1024;

const ticketDetails = z.object({
	/** The user on whose behalf the ticket grants access; none for a visitor's. */
	user: z.object({ id: z.string(), username: z.string(), session: z.string() }).optional(),
	/** For items of a share: the guest's pass, the client by whom downloads are counted, and whether a shared folder is itself an item. */
	share: z
		.object({ pass: z.object({ share: z.string(), password: z.string() }), client: z.string(), isWhole: z.boolean() })
		.optional(),
	area: z.enum(['private', 'public', 'shared']),
	kind: z.enum(['file', 'archive']),
	name: z.string(),
	/** The version of the selection when the ticket was made, or when it was last sent from its beginning. */
	version: z.string(),
	size: z.number(),
});

export type TicketDetails = z.output<typeof ticketDetails>;

export type Ticket = TicketDetails & Selection;

/** A ticket as it is found again. */
export type KeptTicket = TicketDetails & KeptSelection;

interface Dependencies {
	store: TicketStore;
	/** Counts how many tickets a client takes. */
	rates: CounterStore;
	databaseReserve: Pick<DatabaseReserve, 'assertRoom'>;
	/** Bytes that may be written before the reserve of the disk is reached. */
	available(): Promise<number>;
	isSessionValid(session: string): Promise<boolean>;
	now(): number;
	limits?: typeof ticketLimits;
}

export interface Tickets {
	/** Counts a ticket that a client requests, before anything is read. Throws `rateLimited` if there were too many lately. */
	count(client: string): Promise<void>;
	/**
	 * Keeps a ticket for a client, a `clientKey`; resolves to its token. Where too much is kept in all, the oldest of the `siteKey` that has
	 * most end. Throws `rateLimited` if too much is kept for this client, `unavailable` if too much is kept in all and nobody has more, and
	 * `storageFull` without room.
	 */
	add(client: string, ticket: Ticket): Promise<string>;
	/** Throws `expired` for a ticket that has ended and `notFound` for an unknown one, or one that ended long ago. */
	find(token: string): Promise<KeptTicket>;
	/** Remembers which bytes the next part of a download has to fit to. */
	change(token: string, ticket: TicketDetails, change: Pick<Ticket, 'version' | 'size'>): Promise<void>;
	/** Ends a ticket at once. Throws as `find` does. */
	end(token: string): Promise<TicketDetails>;
	/** Those of these tickets that were ended, in whatever process. */
	findEnded(tokens: readonly string[]): Promise<ReadonlySet<string>>;
}

const ticketEnded = () => new Failure('expired', 'This download has ended.');

/** Tickets by the hash of their token: 256 random bits that permit the download. */
export function createTickets({
	store,
	rates,
	databaseReserve,
	available,
	isSessionValid,
	now,
	limits = ticketLimits,
}: Dependencies): Tickets {
	const exclusively = createKeyedMutex();

	/**
	 * Ends the oldest tickets of the sites with most, as long as they have more than this one's will have. False without ending any, if that
	 * does not make so many bytes free.
	 */
	const makeRoom = async (holder: string, bytes: number, missing: number): Promise<boolean> => {
		const bySite = new Map<string, number>();
		for (const each of await store.bytesOf(kindPrefix(holder))) {
			const site = sitePrefix(each.holder);
			bySite.set(site, (bySite.get(site) ?? 0) + each.bytes);
		}
		const own = (bySite.get(sitePrefix(holder)) ?? 0) + bytes;
		const larger = [...bySite].filter(([, size]) => size > own);
		if (larger.reduce((sum, [, size]) => sum + size - own, 0) < missing) return false;
		/** The oldest of each site that are known, and those of them that are to be ended: hundreds in one statement. */
		const oldestOf = new Map<string, { tokenHash: string; bytes: number }[]>();
		const chosen: string[] = [];
		const endChosen = async () => {
			await store.end(chosen.splice(0));
			oldestOf.clear();
		};
		for (let left = missing; left > 0; ) {
			const largest = larger.reduce((one, other) => (other[1] > one[1] ? other : one));
			const [site] = largest;
			let oldest = oldestOf.get(site);
			if (oldest?.length === 0) {
				await endChosen();
				oldest = undefined;
			}
			oldest ??= await store.oldest(site);
			oldestOf.set(site, oldest);
			const next = oldest.shift();
			if (next === undefined) {
				// Others have ended them meanwhile.
				await endChosen();
				return false;
			}
			chosen.push(next.tokenHash);
			left -= next.bytes;
			largest[1] -= next.bytes;
		}
		await endChosen();
		return true;
	};

	const assertRoom = async ({ holder, bytes }: TicketRecord, isOfUser: boolean) => {
		const own = await store.countBytes(holder);
		if (own + bytes > limits.perHolder) {
			const sentence = 'Too many downloads are kept ready for you. Please end some, or try again later.';
			throw new Failure('rateLimited', sentence, { retryAfter: 60 });
		}
		await databaseReserve.assertRoom(bytes);
		if (bytes >= smallBytes && bytes > (await available())) throw noFreeSpace();
		const missing =
			(await store.countBytes(kindPrefix(holder))) + bytes - (isOfUser ? limits.ofUsers : limits.ofVisitors);
		if (missing > 0 && !(await makeRoom(holder, bytes, missing))) {
			const sentence = 'Too many downloads are kept ready. Please try again later.';
			throw new Failure('unavailable', sentence, { retryAfter: 60 });
		}
	};

	const tickets: Tickets = {
		async count(client) {
			const site = siteKey(client);
			const tries = [client, ...(site === client ? [] : [site])].map((each) => ({ key: `tickets:${each}`, windowMs }));
			for (const [at, { count, endsAt }] of (await rates.hitEach(tries, now())).entries())
				if (count > (at === 0 ? maxTickets : siteFactor * maxTickets))
					throw rateLimited('Too many downloads were begun. Please wait a moment.', endsAt, now());
		},

		async add(client, { items, ...ticket }) {
			const token = randomBytes(32).toString('base64url');
			const texts = { details: JSON.stringify(ticketDetails.parse(ticket)), selection: await packItems(items) };
			const record: TicketRecord = {
				...texts,
				holder: holderOf(client, ticket.user !== undefined),
				bytes: rowBytes + Buffer.byteLength(texts.details) + texts.selection.length,
				isEnded: false,
				endsAt: now() + ttlMs,
				expiresAt: now() + rowTtlMs,
			};
			// Serialized, or many concurrent requests would all find the same room.
			await exclusively('', async () => {
				await assertRoom(record, ticket.user !== undefined);
				await store.add(secretHash(token), record);
			});
			return token;
		},

		async find(token) {
			const row = await store.find(secretHash(token));
			if (row === undefined) throw new Failure('notFound', 'There is no such download.');
			// A ticket that ends later than a new one was made while the clock was wrong.
			if (row.isEnded || now() >= row.endsAt || row.endsAt > now() + ttlMs + clockSkewMs) throw ticketEnded();
			const ticket = ticketDetails.parse(JSON.parse(row.details));
			if (ticket.user !== undefined && !(await isSessionValid(ticket.user.session))) throw ticketEnded();
			return { ...ticket, readItems: (turn, signal) => unpackItems(row.selection, new Yielder(turn), signal) };
		},

		async change(token, ticket, change) {
			await store.setDetails(secretHash(token), JSON.stringify(ticketDetails.parse({ ...ticket, ...change })));
		},

		async end(token) {
			const ticket = await tickets.find(token);
			await store.end([secretHash(token)]);
			return ticket;
		},

		async findEnded(tokens) {
			const byHash = new Map(tokens.map((token) => [secretHash(token), token]));
			const ended = await store.findEnded([...byHash.keys()]);
			return new Set([...byHash].flatMap(([hash, token]) => (ended.has(hash) ? [token] : [])));
		},
	};
	return tickets;
}

const holderOf = (client: string, isUser: boolean): string =>
	[isUser ? 'user' : 'visitor', secretHash(siteKey(client)), secretHash(client)].join(' ');

/** How all holders of the same kind begin. */
const kindPrefix = (holder: string): string => holder.slice(0, holder.indexOf(' ') + 1);

/** How all holders of the same `siteKey` begin. */
const sitePrefix = (holder: string): string => holder.slice(0, holder.lastIndexOf(' ') + 1);

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** More than any selection in a request. */
const maxTextBytes = 64 * 1024 * 1024;

/** Items in one folder of one tree: the tree's owner, if it has one, the folder and the names. */
const group = z.tuple([z.array(z.string().nullable()).max(1), z.string(), z.array(z.string())]);
type Group = z.output<typeof group>;

/** The most names in one group, so that each is read in a moment. */
const maxNames = 100;

/**
 * Items as a short text: a folder is written once for consecutive items in it. The text is compressed JSON with a line for each group:
 * no line break is part of a string there, so a long list can be read line by line.
 */
export async function packItems(items: readonly ChosenItem[]): Promise<string> {
	const yielder = new Yielder();
	const lines: string[] = [];
	let last: Group | undefined;
	const end = () => last !== undefined && lines.push(JSON.stringify(last));
	for (const { path, owner } of items) {
		if (yielder.shouldYield) await yielder.yield();
		const folder = parentPath(path);
		const isOfLast = last?.[1] === folder && ownerOf(last) === owner && last[2].length < maxNames;
		if (last !== undefined && isOfLast) last[2].push(baseName(path));
		else {
			end();
			last = [owner === undefined ? [] : [owner], folder, [baseName(path)]];
		}
	}
	end();
	return (await deflate(`[\n${lines.join(',\n')}\n]`)).toString('base64url');
}

export async function unpackItems(
	text: string,
	yielder = new Yielder(),
	signal?: AbortSignal,
): Promise<readonly ChosenItem[]> {
	const json = await inflate(Buffer.from(text, 'base64url'), { maxOutputLength: maxTextBytes });
	const items: ChosenItem[] = [];
	for (let start = 0; start < json.length; ) {
		if (yielder.shouldYield) await yielder.yield(signal);
		const lineEnd = json.indexOf('\n', start);
		const end = lineEnd === -1 ? json.length : lineEnd;
		for (const [[owner], folder, names] of groupsOf(json.toString('utf8', start, end))) {
			const within = parsePath(folder);
			for (const name of names) items.push({ path: joinPath(within, name), ...ownedBy(owner) });
		}
		start = end + 1;
	}
	return items;
}

/** The groups of a line. Earlier versions wrote all of them in one. */
function groupsOf(line: string): Group[] {
	if (line === '' || line === '[' || line === ']') return [];
	const json: unknown = JSON.parse(line.endsWith(',') ? line.slice(0, -1) : line);
	return line.startsWith('[[[') || line === '[]' ? z.array(group).parse(json) : [group.parse(json)];
}

const ownerOf = ([[owner]]: Group): Owner | undefined => owner;
