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
const inAWhile = () => new Promise((resolve) => setImmediate(resolve));

test('whoever comes late hears where a ticket stood, once, and then what comes', async (t) => {
	const notifications = createNotifications();
	for (const sent of [1, 2]) notifications.publish({ ticket: 'a' }, about('a', sent));
	notifications.publish({ ticket: 'b' }, about('b', 5));
	const received: Notification[] = [];
	const unsubscribe = notifications.subscribe({ ticket: 'a' }, (item) => received.push(item));
	t.deepEqual(received, [], 'not before the listener is ready');
	await inAWhile();
	t.deepEqual(received, [about('a', 2)]);
	notifications.publish({ ticket: 'a' }, about('a', 3));
	unsubscribe();
	notifications.publish({ ticket: 'a' }, about('a', 4));
	t.deepEqual(received, [about('a', 2), about('a', 3)]);
});

test('somebody who has left before that hears nothing', async (t) => {
	const notifications = createNotifications();
	notifications.publish({ ticket: 'a' }, about('a', 1));
	notifications.subscribe({ ticket: 'a' }, () => t.fail())();
	await inAWhile();
	t.pass();
});

test('where a ticket stood is forgotten after a while, and what a person was told is not kept', async (t) => {
	let now = 0;
	const notifications = createNotifications(() => now);
	notifications.publish({ ticket: 'a' }, about('a', 1));
	notifications.publish({ userId: '1' }, about('a', 1));
	now += 11 * 60_000;
	notifications.publish({ ticket: 'b' }, about('b', 1));
	const received: Notification[] = [];
	for (const audience of [{ ticket: 'a' }, { ticket: 'b' }, { userId: '1' }])
		notifications.subscribe(audience, (item) => received.push(item));
	await inAWhile();
	t.deepEqual(received, [about('b', 1)]);
});
