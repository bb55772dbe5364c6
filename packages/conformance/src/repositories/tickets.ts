import type { TicketRecord } from '@stowage/plugin-api';
import { day, hostileTexts, type Rule, second } from './rules.js';

const ticketOf = (holder: string, now: number, bytes = 1000): TicketRecord => ({
	holder,
	details: 'ä 😀',
	selection: 'a.txt',
	bytes,
	isEnded: false,
	endsAt: now + 60 * second,
	expiresAt: now + day,
});

/** Download tickets. */
export function ticketRules(assertThat: Rule): void {
	assertThat(
		'a ticket is found by the hash of its token as it was added, until it expires',
		async (t, { tickets }, clock) => {
			const ticket = ticketOf('user 1', clock.now);
			await tickets.add('one', ticket);
			t.deepEqual(await tickets.find('one'), ticket);
			for (const text of hostileTexts) t.is(await tickets.find(text), undefined);
			await tickets.setDetails('one', 'other details');
			t.deepEqual(await tickets.find('one'), { ...ticket, details: 'other details' });
			clock.now += day;
			t.is(await tickets.find('one'), undefined);
		},
	);

	assertThat('an ended ticket is marked as ended, is empty and cannot be changed', async (t, { tickets }, clock) => {
		const ticket = ticketOf('user 1', clock.now);
		await tickets.add('one', ticket);
		await tickets.add('two', ticket);
		const asked = ['one', 'two', 'another', ...Array.from({ length: 3000 }, (_, n) => `none ${n}`)];
		t.deepEqual(await tickets.findEnded(asked), new Set());
		t.deepEqual(await tickets.findEnded([]), new Set());
		await tickets.end(['one']);
		t.deepEqual(await tickets.findEnded(asked), new Set(['one']));
		await tickets.setDetails('one', 'other details');
		t.deepEqual(await tickets.find('one'), {
			...ticket,
			...{ details: '', selection: '', bytes: 0, isEnded: true, endsAt: 0 },
		});
	});

	assertThat('the bytes of unexpired tickets are summed by holder and in all', async (t, { tickets }, clock) => {
		t.is(await tickets.countBytes(), 0);
		await tickets.add('one', ticketOf('user 1', clock.now, 1));
		await tickets.add('two', ticketOf('user 1', clock.now, 20));
		await tickets.add('three', ticketOf('User 1', clock.now, 300));
		t.is(await tickets.countBytes('user 1'), 21);
		t.is(await tickets.countBytes('unknown'), 0);
		t.is(await tickets.countBytes(), 321);
		await tickets.end(['one']);
		t.is(await tickets.countBytes('user 1'), 20);
		t.is(await tickets.sweep(), 0);
		t.is(await tickets.countBytes(), 320);
		clock.now += 60 * second;
		t.is(await tickets.sweep(), 0);
		t.is(await tickets.countBytes(), 0);
		t.is((await tickets.find('two'))?.selection, '');
		clock.now += day;
		t.is(await tickets.sweep(), 3);
		t.is(await tickets.sweep(), 0);
	});

	assertThat(
		'tickets are summed, and the oldest are found, by the beginning of their holders',
		async (t, { tickets }, clock) => {
			const add = (token: string, holder: string, bytes: number, age: number) =>
				tickets.add(token, { ...ticketOf(holder, clock.now, bytes), endsAt: clock.now + 60 * second - age });
			await add('one', 'visitor a 1', 1, 0);
			await add('two', 'visitor a 2', 20, 2);
			await add('three', 'visitor a 2', 300, 1);
			await add('four', 'visitor b 1', 4000, 3);
			await add('five', 'account a 1', 50_000, 4);
			t.is(await tickets.countBytes('visitor '), 4321);
			t.is(await tickets.countBytes('visitor a '), 321);
			t.is(await tickets.countBytes('Visitor '), 0);
			const byHolder = await tickets.bytesOf('visitor ');
			t.deepEqual(new Map(byHolder.map(({ holder, bytes }) => [holder, bytes])).size, 3);
			t.is(byHolder.find(({ holder }) => holder === 'visitor a 2')?.bytes, 320);
			const oldest = [
				{ tokenHash: 'two', bytes: 20 },
				{ tokenHash: 'three', bytes: 300 },
				{ tokenHash: 'one', bytes: 1 },
			];
			t.deepEqual(await tickets.oldest('visitor a '), oldest);
			await tickets.end(['two']);
			t.deepEqual(await tickets.oldest('visitor a '), oldest.slice(1));
			t.is((await tickets.bytesOf('visitor a ')).length, 2);
		},
	);
}
