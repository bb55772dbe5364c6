import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { EndSubscriptions } from '../../src/events/EndSubscriptions.js';
import { until } from '../until.js';

test('all that is subscribed to is looked up in one call, and the current subscribers of an ended one are notified', async (t) => {
	const lookups: (readonly string[])[] = [];
	const alive = new Set(['a', 'b', 'c']);
	const subscriptions = new EndSubscriptions(100, async (keys) => {
		lookups.push(keys);
		return new Set(keys.filter((key) => !alive.has(key)));
	});
	const ended: string[] = [];
	const unsubscribes = ['a', 'b', 'b', 'c'].map((key) => subscriptions.subscribe(key, () => ended.push(key)));
	t.teardown(() => {
		for (const unsubscribe of unsubscribes) unsubscribe();
	});
	await until('they are looked up', async () => lookups.length > 0);
	t.deepEqual(lookups[0], ['a', 'b', 'c']);
	t.deepEqual(ended, []);
	unsubscribes[3]?.();
	alive.clear();
	alive.add('a');
	await until('a subscriber is notified', async () => ended.length > 0);
	t.deepEqual([...new Set(ended)], ['b']);
});

test('while a look-up waits for its answer no other one is begun', async (t) => {
	let count = 0;
	let answer = (_: ReadonlySet<string>) => {};
	const subscriptions = new EndSubscriptions(10, () => {
		count++;
		return new Promise((resolve) => {
			answer = resolve;
		});
	});
	let hasEnded = false;
	const unsubscribe = subscriptions.subscribe('a', () => {
		hasEnded = true;
	});
	t.teardown(unsubscribe);
	await until('it is looked up', () => count === 1);
	await wait(100);
	t.is(count, 1);
	answer(new Set());
	await until('it is looked up again', () => count === 2);
	t.false(hasEnded);
	answer(new Set(['a']));
	await until('its end is known', () => hasEnded);
});

test('an outage of the database ends nothing', async (t) => {
	let count = 0;
	const subscriptions = new EndSubscriptions(10, async () => {
		if (++count < 3) throw new Error('away');
		return new Set(['a']);
	});
	let endedAt: number | undefined;
	const unsubscribe = subscriptions.subscribe('a', () => {
		endedAt ??= count;
	});
	t.teardown(unsubscribe);
	await until('its end is known', () => endedAt !== undefined);
	t.is(endedAt, 3);
});
