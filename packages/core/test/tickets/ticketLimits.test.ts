import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openDatabase } from '@stowage/database';
import { isFailure, parsePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
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
	const tickets = createTickets({
		store: database.tickets,
		rates: database.limits,
		databaseReserve: { assertRoom: async (bytes) => void checked.push(bytes) },
		available: async () => Number.POSITIVE_INFINITY,
		isSessionValid: async () => true,
		now: Date.now,
		...(limits ? { limits } : {}),
	});
	return { tickets, database, checked };
}

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
	const limits = { perHolder: 100 * kilobyte, ofVisitors: 150 * kilobyte, total: 250 * kilobyte };
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

test('visitors share a limit of ticket bytes, beyond which users can create tickets up to the limit for all', async (t) => {
	const limits = { perHolder: 100 * kilobyte, ofVisitors: 100 * kilobyte, total: 200 * kilobyte };
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
