import { setTimeout as wait } from 'node:timers/promises';
import type { ByteRange, Notification, OpenFile } from '@stowage/plugin-api';
import test from 'ava';
import type { Ticket } from '../../src/tickets/createTickets.js';
import { TicketParts } from '../../src/tickets/TicketParts.js';
import { Transfers } from '../../src/tickets/Transfers.js';
import { until } from '../until.js';

test('the tickets of all transfers are looked up together, one look-up at a time', async (t) => {
	const asked: (readonly string[])[] = [];
	let isSlow = true;
	const ended = new Set<string>();
	const transfers = new Transfers({
		notifications: { publish() {}, subscribe: () => () => {} },
		tickets: {
			async findEnded(tokens) {
				asked.push(tokens);
				while (isSlow) await wait(10);
				return new Set(tokens.filter((token) => ended.has(token)));
			},
		},
		onSessionEnd: () => () => {},
		pollMs: 20,
	});
	const broken: string[] = [];
	const all = Array.from({ length: 40 }, (_, n) => {
		const token = `ticket ${n % 20}`;
		return transfers.enter(token, { size: 1 } as Ticket, () => broken.push(token));
	});
	t.teardown(() => {
		for (const transfer of all) transfer.leave();
	});
	await until('they are looked up', () => asked.length > 0);
	t.is(asked[0]?.length, 20);
	await wait(200);
	t.is(asked.length, 1);
	isSlow = false;
	ended.add('ticket 7');
	await until('one is broken off', () => broken.length > 0);
	t.deepEqual(broken, ['ticket 7', 'ticket 7']);
});

const size = 1000;

/** The transfers of a process, and what they publish. */
function published() {
	const seen: { sent: number; state: string }[] = [];
	const transfers = new Transfers({
		notifications: {
			publish: (_audience, item: Notification) => {
				if (item.kind === 'ticket') seen.push({ sent: item.sent, state: item.state });
			},
			subscribe: () => () => {},
		},
		tickets: { findEnded: async () => new Set() },
		onSessionEnd: () => () => {},
	});
	return { transfers, seen };
}

/** A file that gives a chunk of a hundred bytes each time it may. */
function fileOf(version: string, mayGive: () => Promise<void> = async () => {}): OpenFile {
	return {
		item: { name: 'a', type: 'file', size, mtime: 0, id: 'a', version },
		async *read({ start, end }: ByteRange = { start: 0, end: size - 1 }) {
			for (let at = start; at <= end; at += 100) {
				await mayGive();
				yield Buffer.alloc(Math.min(100, end + 1 - at));
			}
		},
		isChanged: async () => false,
		close: async () => {},
	};
}

async function send(transfers: Transfers, file: OpenFile, range?: ByteRange): Promise<void> {
	const transfer = transfers.enter('ticket', { size } as Ticket, () => {});
	try {
		for await (const _ of transfer.reporting(file).read(range));
	} finally {
		transfer.leave();
	}
}

test('a download by several connections is as far as all of them together, and done once all of it was sent', async (t) => {
	const { transfers, seen } = published();
	let release = () => {};
	const released = new Promise<void>((resolve) => {
		release = resolve;
	});
	const first = send(
		transfers,
		fileOf('v', () => released),
		{ start: 0, end: 899 },
	);
	await send(transfers, fileOf('v'), { start: 900, end: 999 });
	await until('the end of the second is published', () => seen.at(-1)?.sent === 100);
	t.deepEqual(seen.at(-1), { sent: 100, state: 'sending' });
	release();
	await first;
	await until('the end is published', () => seen.at(-1)?.state === 'done');
	t.is(seen.at(-1)?.sent, size);
	t.is(seen.filter(({ state }) => state === 'done').length, 1);
	// The same ticket once more.
	await send(transfers, fileOf('v'), { start: 0, end: 499 });
	await until('it begins anew', () => seen.at(-1)?.state === 'waiting');
	t.is(seen.at(-1)?.sent, 500);
	await send(transfers, fileOf('v'), { start: 500, end: 999 });
	await until('it is done again', () => seen.at(-1)?.state === 'done');
});

test('who resumes goes on with what was sent before, also by another process, and another version begins anew', async (t) => {
	const { transfers, seen } = published();
	await send(transfers, fileOf('v'), { start: 600, end: 699 });
	await until('it is published', () => seen.at(-1)?.state === 'waiting');
	t.is(seen.at(-1)?.sent, 700);
	await send(transfers, fileOf('v'), { start: 700, end: 999 });
	await until('it is done', () => seen.at(-1)?.state === 'done');
	await send(transfers, fileOf('w'), { start: 0, end: 99 });
	await until('the other version is published', () => seen.at(-1)?.state === 'waiting');
	t.is(seen.at(-1)?.sent, 100);
});

test('several ranges of one response are not all that is before the last of them', async (t) => {
	const { transfers, seen } = published();
	const transfer = transfers.enter('ticket', { size } as Ticket, () => {});
	const file = transfer.reporting(fileOf('v'));
	for await (const _ of file.read({ start: 0, end: 99 }));
	for await (const _ of file.read({ start: 900, end: 999 }));
	transfer.leave();
	await until('its end is published', () => seen.at(-1)?.state === 'waiting' && seen.at(-1)?.sent === 200);
	t.false(seen.some(({ state }) => state === 'done'));
});

test('a download that goes on here, elsewhere and here again is done at its end', (t) => {
	const parts = new TicketParts('v', size);
	const sendPart = (start: number, head: number) => {
		const part = parts.beginResponse(start, size - 1);
		part.head = head;
		parts.end(part, false);
		return parts.progress();
	};
	t.deepEqual(sendPart(0, 500), { sent: 500, state: 'waiting' });
	t.deepEqual(sendPart(700, 800), { sent: 800, state: 'waiting' }, 'what is between was sent by another process');
	t.deepEqual(sendPart(790, 900), { sent: 900, state: 'waiting' }, 'the client has less than has left the process');
	t.deepEqual(sendPart(950, size), { sent: size, state: 'done' });
});

test('of several connections that are broken off each one has to go on, in whatever order', (t) => {
	const parts = new TicketParts('v', size);
	const begun = [0, 250, 500, 750].map((start) => parts.beginResponse(start, start + 249));
	for (const part of begun) {
		part.head += 50;
		parts.end(part, false);
	}
	t.deepEqual(parts.progress(), { sent: 200, state: 'waiting' });
	for (const [at, sent] of [
		[800, 400],
		[290, 600],
		[550, 800],
		[50, 1000],
	] as const) {
		const part = parts.beginResponse(at, Math.floor(at / 250) * 250 + 249);
		part.head = part.limit;
		parts.end(part, false);
		t.is(parts.progress().sent, sent, `after ${at}`);
	}
	t.is(parts.progress().state, 'done');
});

test('parts of a ticket count once, and all of it again begins anew', (t) => {
	const parts = new TicketParts('v', size);
	const sendPart = (start: number, end: number) => {
		const part = parts.beginResponse(start, end - 1);
		part.head = end;
		parts.end(part, false);
		return parts.progress();
	};
	t.deepEqual(sendPart(500, 600), { sent: 600, state: 'waiting' }, 'what is before was sent earlier');
	t.deepEqual(sendPart(0, 100), { sent: 200, state: 'waiting' }, 'or not');
	t.deepEqual(sendPart(50, 150), { sent: 250, state: 'waiting' });
	const all = parts.beginResponse(0, size - 1);
	t.deepEqual(parts.progress(), { sent: 0, state: 'sending' });
	all.head = 300;
	parts.end(all, true);
	t.deepEqual(parts.progress(), { sent: 300, state: 'changed' });
	t.deepEqual(sendPart(300, size), { sent: size, state: 'done' });
	const first = parts.beginResponse(0, 0);
	for (let at = 2; at < size; at += 2) sendPart(at, at + 1);
	parts.end(first, false);
	t.deepEqual(parts.progress(), { sent: 100, state: 'waiting' }, 'of very many parts some are remembered');
});

test('no event follows the end of a ticket', async (t) => {
	const { transfers, seen } = published();
	const ticket = { size } as Ticket;
	const sending = send(
		transfers,
		fileOf('v', () => wait(50)),
	);
	await until('it is being sent', () => seen.at(-1)?.state === 'sending');
	transfers.end('ticket', ticket);
	await until('the end is published', () => seen.at(-1)?.state === 'ended');
	await sending;
	await wait(300);
	t.is(seen.filter(({ state }) => state === 'ended').length, 1);
	t.is(seen.at(-1)?.state, 'ended');
});

test('a transfer that is left after its ticket has ended leaves later ones alone', async (t) => {
	const { transfers } = published();
	const broken: string[] = [];
	const ticket = { size } as Ticket;
	const first = transfers.enter('ticket', ticket, () => broken.push('first'));
	transfers.end('ticket', ticket);
	const second = transfers.enter('ticket', ticket, () => broken.push('second'));
	first.leave();
	transfers.end('ticket', ticket);
	t.deepEqual(broken, ['first', 'second']);
	second.leave();
});
