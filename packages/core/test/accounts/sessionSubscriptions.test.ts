import test from 'ava';
import { SessionSubscriptions } from '../../src/accounts/SessionSubscriptions.js';
import { until } from '../until.js';

test('all subscribed sessions are looked up in one call, and the current subscribers of an ended one are notified', async (t) => {
	const lookups: (readonly string[])[] = [];
	const alive = new Set(['a', 'b', 'c']);
	const subscriptions = new SessionSubscriptions(async (idHashes) => {
		lookups.push(idHashes);
		return alive;
	});
	const ended: string[] = [];
	const unsubscribes = ['a', 'b', 'b', 'c'].map((idHash) => subscriptions.subscribe(idHash, () => ended.push(idHash)));
	t.teardown(() => {
		for (const unsubscribe of unsubscribes) unsubscribe();
	});
	await until('the sessions are looked up', async () => lookups.length > 0);
	t.deepEqual(lookups[0], ['a', 'b', 'c']);
	t.deepEqual(ended, []);
	unsubscribes[3]?.();
	alive.clear();
	alive.add('a');
	await until('a subscriber is notified', async () => ended.length > 0);
	t.deepEqual([...new Set(ended)], ['b']);
});
