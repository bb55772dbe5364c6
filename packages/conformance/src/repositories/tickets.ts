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
		await tickets.end('one');
		t.deepEqual(await tickets.findEnded(asked), new Set(['one']));
		await tickets.setDetails('one', 'other details');
		t.deepEqual(await tickets.find('one'), { ...ticket, details: '', selection: '', bytes: 0, isEnded: true });
	});

	assertThat('the bytes of unexpired tickets are summed by holder and in all', async (t, { tickets }, clock) => {
		t.is(await tickets.countBytes(), 0);
		await tickets.add('one', ticketOf('user 1', clock.now, 1));
		await tickets.add('two', ticketOf('user 1', clock.now, 20));
		await tickets.add('three', ticketOf('User 1', clock.now, 300));
		t.is(await tickets.countBytes('user 1'), 21);
		t.is(await tickets.countBytes('unknown'), 0);
		t.is(await tickets.countBytes(), 321);
		await tickets.end('one');
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
}
