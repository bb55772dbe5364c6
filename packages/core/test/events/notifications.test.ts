import type { Notification } from '@stowage/plugin-api';
import test from 'ava';
import { createNotifications } from '../../src/events/notifications.js';

const about = (ticket: string, sent: number): Notification => ({
	kind: 'ticket',
	ticket,
	sent,
	size: 9,
	state: 'sending',
});
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('a late subscriber of a ticket gets its last state once, then new events', async (t) => {
	const notifications = createNotifications();
	for (const sent of [1, 2]) notifications.publish({ ticket: 'a' }, about('a', sent));
	notifications.publish({ ticket: 'b' }, about('b', 5));
	const received: Notification[] = [];
	const unsubscribe = notifications.subscribe({ ticket: 'a' }, (item) => received.push(item));
	t.deepEqual(received, [], 'not before subscribe has returned');
	await nextTurn();
	t.deepEqual(received, [about('a', 2)]);
	notifications.publish({ ticket: 'a' }, about('a', 3));
	unsubscribe();
	notifications.publish({ ticket: 'a' }, about('a', 4));
	t.deepEqual(received, [about('a', 2), about('a', 3)]);
});

test('a subscriber that unsubscribes at once gets nothing', async (t) => {
	const notifications = createNotifications();
	notifications.publish({ ticket: 'a' }, about('a', 1));
	notifications.subscribe({ ticket: 'a' }, () => t.fail())();
	await nextTurn();
	t.pass();
});

test('the last state of a ticket is forgotten after ten minutes, and notifications of a user are not kept', async (t) => {
	let now = 0;
	const notifications = createNotifications(() => now);
	notifications.publish({ ticket: 'a' }, about('a', 1));
	notifications.publish({ userId: '1' }, about('a', 1));
	now += 11 * 60_000;
	notifications.publish({ ticket: 'b' }, about('b', 1));
	const received: Notification[] = [];
	for (const audience of [{ ticket: 'a' }, { ticket: 'b' }, { userId: '1' }])
		notifications.subscribe(audience, (item) => received.push(item));
	await nextTurn();
	t.deepEqual(received, [about('b', 1)]);
});
