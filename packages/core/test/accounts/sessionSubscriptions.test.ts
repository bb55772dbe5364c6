import test from 'ava';
import { SessionSubscriptions } from '../../src/accounts/SessionSubscriptions.js';
import { until } from '../until.js';

test('all sessions are looked up together, and who subscribed to one that has ended is told, as long as they want to be', async (t) => {
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
	await until('they are looked up', async () => lookups.length > 0);
	t.deepEqual(lookups[0], ['a', 'b', 'c']);
	t.deepEqual(ended, []);
	unsubscribes[3]?.();
	alive.clear();
	alive.add('a');
	await until('one has ended', async () => ended.length > 0);
	t.deepEqual([...new Set(ended)], ['b']);
});
