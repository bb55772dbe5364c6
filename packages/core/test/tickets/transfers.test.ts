import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import type { Ticket } from '../../src/tickets/createTickets.js';
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
