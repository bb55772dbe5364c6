import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { openDatabase } from '@stowage/database';
import { type CounterStore, type TicketStore, Yielder } from '@stowage/plugin-api';
import { isFailure, parsePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { secretHash } from '../../src/secretHash.js';
import { createTickets, packItems, type Ticket, unpackItems } from '../../src/tickets/createTickets.js';

const kilobyte = 1024;

async function ticketsOf(t: ExecutionContext, limits: Parameters<typeof createTickets>[0]['limits']) {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'stowage-tickets-'));
	const database = await openDatabase(`sqlite:${path.join(folder, 'test.db')}`);
	t.teardown(async () => {
		await database.close();
		rmSync(folder, { recursive: true });
	});
	const checked: number[] = [];
	const dependencies = {
		store: database.tickets,
		rates: database.limits,
		databaseReserve: { assertRoom: async (bytes: number) => void checked.push(bytes) },
		available: async () => Number.POSITIVE_INFINITY,
		isSessionValid: async () => true,
		now: Date.now,
		...(limits ? { limits } : {}),
	};
	return { tickets: createTickets(dependencies), dependencies, database, checked };
}

const reasonOf = async (work: Promise<unknown>): Promise<string | undefined> => {
	try {
		await work;
		return undefined;
	} catch (error) {
		if (isFailure(error)) return error.kind;
		throw error;
	}
};

/** A ticket of about this many bytes: its names can't be compressed. */
function ticketOf(bytes: number, user?: string): Ticket {
	const items = Array.from({ length: Math.ceil(bytes / 96) }, () => ({
		path: parsePath(`${randomBytes(48).toString('hex')}`),
	}));
	return {
		area: 'private',
		kind: 'archive',
		name: 'files.zip',
		version: 'v',
		size: 1,
		items,
		...(user === undefined ? {} : { user: { id: user, username: user, session: 's' } }),
	};
}

test('the tickets of one client are limited in bytes, also concurrent ones, and other clients are not affected', async (t) => {
	const limits = { perHolder: 100 * kilobyte, ofVisitors: 150 * kilobyte, ofUsers: 100 * kilobyte };
	const { tickets, database, checked } = await ticketsOf(t, limits);
	const add = (client: string, user?: string) => tickets.add(client, ticketOf(20 * kilobyte, user));
	const many = await Promise.allSettled(Array.from({ length: 50 }, () => add('flood')));
	const made = many.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
	t.true(made.length >= 3 && made.length <= 9, `${made.length}`);
	t.is(checked.length, made.length);
	for (const each of many) if (each.status === 'rejected') t.true(isFailure(each.reason, 'rateLimited'));
	t.true((await database.tickets.countBytes()) <= 100 * kilobyte);
	await t.notThrowsAsync(add('honest'));
	await tickets.end(made[0] as string);
	await t.notThrowsAsync(add('flood'), 'an ended ticket uses no space');
});

test('the visitors of an IPv6 /48 begin together as many downloads as four of them may', async (t) => {
	const counts = new Map<string, number>();
	const hitEach: CounterStore['hitEach'] = async (tries) =>
		tries.map(({ key }) => ({ count: counts.get(key) ?? 1, endsAt: Date.now() + 1000 }));
	const tickets = createTickets({
		store: {} as TicketStore,
		rates: { hitEach } as CounterStore,
		databaseReserve: { assertRoom: async () => {} },
		now: Date.now,
		available: async () => 1,
		isSessionValid: async () => true,
	});
	const client = '2001:db8:1:2::/64';
	await t.notThrowsAsync(tickets.count(client));
	counts.set(`tickets:${client}`, 1000);
	counts.set('tickets:2001:db8:1::/48', 4000);
	await t.notThrowsAsync(tickets.count(client));
	counts.set('tickets:2001:db8:1::/48', 4001);
	t.is(await reasonOf(tickets.count(client)), 'rateLimited');
	t.is(await reasonOf(tickets.count('192.0.2.1')), undefined);
});

test('visitors share a limit of ticket bytes, and users another one', async (t) => {
	const limits = { perHolder: 100 * kilobyte, ofVisitors: 100 * kilobyte, ofUsers: 100 * kilobyte };
	const { tickets, database } = await ticketsOf(t, limits);
	const fill = async (of: (n: number) => Promise<string>) => {
		for (let n = 0; n < 100; n++) {
			try {
				await of(n);
			} catch (error) {
				return t.true(isFailure(error, 'unavailable'));
			}
		}
		return t.fail('No limit was reached.');
	};
	await fill((n) => tickets.add(`visitor ${n}`, ticketOf(10 * kilobyte)));
	t.true((await database.tickets.countBytes()) <= 100 * kilobyte);
	await fill((n) => tickets.add(`user ${n}`, ticketOf(10 * kilobyte, `${n}`)));
	t.true((await database.tickets.countBytes()) <= 200 * kilobyte);
	t.true((await database.tickets.countBytes()) > 150 * kilobyte);
});

test('where all are kept that may be, the oldest tickets of who has most end for those of others', async (t) => {
	const limits = { perHolder: 60 * kilobyte, ofVisitors: 100 * kilobyte, ofUsers: 100 * kilobyte };
	const { tickets, database } = await ticketsOf(t, limits);
	const add = (client: string, bytes = 10 * kilobyte, user?: string) => tickets.add(client, ticketOf(bytes, user));
	const fill = async (client: string, user?: string) => {
		const made: string[] = [];
		const next = async () => made.push(await add(client, 10 * kilobyte, user));
		await t.throwsAsync(async () => {
			while ((await next()) < 100);
		});
		return made;
	};
	// Accounts take nothing from visitors.
	for (const user of ['1', '2', '3']) await fill(`user ${user}`, user);
	const [first, ...rest] = await fill('2001:db8:1:1::/64');
	await fill('2001:db8:1:2::/64');
	const guest = await add('203.0.113.1');
	t.is(await reasonOf(tickets.find(first as string)), 'expired');
	t.is(await reasonOf(tickets.find(rest.at(-1) as string)), undefined);
	const large = await add('203.0.113.2', 35 * kilobyte);
	for (const each of [guest, large]) t.is(await reasonOf(tickets.find(each)), undefined);
	t.true((await database.tickets.countBytes('visitor ')) <= 100 * kilobyte);
	t.is(await reasonOf(add('2001:db8:1:3::/64')), 'unavailable', 'of the site that has most');
	for (let n = 3; n < 10; n++) await reasonOf(add(`203.0.113.${n}`));
	t.is(await reasonOf(tickets.find(guest)), undefined, 'who has less than others keeps it');
});

test('a large ticket that takes the room of very many small ones ends them together', async (t) => {
	const limits = { perHolder: 2000 * kilobyte, ofVisitors: 2000 * kilobyte, ofUsers: kilobyte };
	const { tickets, database, dependencies } = await ticketsOf(t, limits);
	const made: string[] = [];
	// Two sites that have as much as each other, and so are ended in turns.
	for (let n = 0; n < 1600; n++) made.push(await tickets.add(`203.0.113.${n % 2}`, ticketOf(1)));
	const kept = await tickets.add('203.0.113.2', ticketOf(1));
	let calls = 0;
	const store = new Proxy(database.tickets, {
		get(target, name) {
			calls++;
			return Reflect.get(target, name);
		},
	});
	const large = await createTickets({ ...dependencies, store }).add('203.0.113.3', ticketOf(500 * kilobyte));
	t.true(calls < 15, `${calls}`);
	for (const each of [kept, large]) t.is(await reasonOf(tickets.find(each)), undefined);
	t.true((await database.tickets.countBytes()) <= limits.ofVisitors);
	const ended = await database.tickets.findEnded(made.map((each) => secretHash(each)));
	t.true(ended.size > 150 && ended.size < 400, `${ended.size}`);
	const ofFirst = made.filter((token, n) => n % 2 === 0 && ended.has(secretHash(token))).length;
	t.true(Math.abs(2 * ofFirst - ended.size) < 10, `${ofFirst} of ${ended.size}`);
});

test('a selection is stored compressed and restored unchanged', async (t) => {
	const items = [
		{ path: parsePath('a.txt') },
		{ path: parsePath('docs/ä 📁.txt'), owner: null },
		{ path: parsePath('docs/b'), owner: null },
		{ path: parsePath('docs/b'), owner: 'ada' },
		...Array.from({ length: 10_000 }, (_, n) => ({ path: parsePath(`photos/2024/IMG_${n}.jpg`), owner: 'ada' })),
	];
	const packed = await packItems(items);
	t.deepEqual(await unpackItems(packed), items);
	t.true(packed.length < JSON.stringify(items).length / 10, `${packed.length}`);
	t.deepEqual(await unpackItems(await packItems([])), []);
});

test('a selection that an earlier version has stored is read', async (t) => {
	const stored = (groups: unknown) => deflateRawSync(JSON.stringify(groups)).toString('base64url');
	t.deepEqual(await unpackItems(stored([])), []);
	const groups = [
		[[], '', ['a.txt', '[[[']],
		[['ada'], 'docs', ['b', 'c']],
		[[null], 'docs', ['b']],
	];
	t.deepEqual(await unpackItems(stored(groups)), [
		{ path: parsePath('a.txt') },
		{ path: parsePath('[[[') },
		{ path: parsePath('docs/b'), owner: 'ada' },
		{ path: parsePath('docs/c'), owner: 'ada' },
		{ path: parsePath('docs/b'), owner: null },
	]);
	const packed = await packItems([{ path: parsePath('docs/b'), owner: 'ada' }]);
	const json = inflateRawSync(Buffer.from(packed, 'base64url')).toString();
	t.deepEqual(JSON.parse(json), [[['ada'], 'docs', ['b']]], 'and an earlier version reads what is stored now');
});

test('a long selection is read in steps, between which others have their turn', async (t) => {
	const items = Array.from({ length: 2_000 }, (_, n) => ({ path: parsePath(`folder ${n}/IMG_${n}.jpg`) }));
	const many = Array.from({ length: 20_000 }, (_, n) => ({ path: parsePath(`photos/IMG_${n}.jpg`) }));
	for (const selection of [items, many]) {
		const packed = await packItems(selection);
		let steps = 0;
		const yielder = { shouldYield: true, yield: async () => void steps++ } as unknown as Yielder;
		t.deepEqual(await unpackItems(packed, yielder), selection);
		t.true(steps >= selection.length / 100, `${steps} steps`);
	}
	const packed = await packItems(many);
	const left = new AbortController();
	left.abort(new Error('The client has left.'));
	const now = new Yielder();
	Object.defineProperty(now, 'shouldYield', { value: true });
	await t.throwsAsync(unpackItems(packed, now, left.signal), { message: 'The client has left.' });
});

test('a ticket is found, changed and ended without reading its selection', async (t) => {
	const { tickets, database } = await ticketsOf(t, undefined);
	const token = await tickets.add('ada', ticketOf(1000));
	const row = await database.tickets.find(secretHash(token));
	if (row === undefined) return t.fail();
	const damaged = 'damaged';
	await database.tickets.add(secretHash(damaged), { ...row, selection: 'AAAA' });
	const found = await tickets.find(damaged);
	await t.throwsAsync(found.readItems({ isOver: false, next: async () => {} }));
	await tickets.change(damaged, found, { version: 'w', size: 2 });
	t.like(await tickets.find(damaged), { version: 'w', size: 2 });
	t.is((await tickets.end(damaged)).size, 2);
	t.is(await reasonOf(tickets.find(damaged)), 'expired');
});
