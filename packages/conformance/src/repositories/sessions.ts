import { day, type Rule, second } from './rules.js';

/** Who is signed in, and until when. */
export function sessionRules(rule: Rule): void {
	rule('a session is found with its user', async (t, { users, sessions }, clock) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		await sessions.add('hash', alice.id);
		t.deepEqual(await sessions.find('hash', clock.now), {
			session: { userId: alice.id, createdAt: clock.now, lastSeenAt: clock.now },
			user: alice,
		});
		t.is(await sessions.find('HASH', clock.now), undefined);
		t.is(await sessions.find('hash ', clock.now), undefined);
		t.is(await sessions.find('', clock.now), undefined);
	});

	rule('a session ends after 7 days without use', async (t, { users, sessions }, clock) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		await sessions.add('hash', alice.id);
		t.truthy(await sessions.find('hash', clock.now + 7 * day - second));
		t.is(await sessions.find('hash', clock.now + 7 * day), undefined);
		await sessions.touch('hash', clock.now + 6 * day);
		t.is((await sessions.find('hash', clock.now + 12 * day))?.session.lastSeenAt, clock.now + 6 * day);
		t.is(await sessions.find('hash', clock.now + 13 * day), undefined);
	});

	rule('a session ends after 30 days however busy it is', async (t, { users, sessions }, clock) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		await sessions.add('hash', alice.id);
		for (let days = 1; days < 30; days++) await sessions.touch('hash', clock.now + days * day);
		t.truthy(await sessions.find('hash', clock.now + 30 * day - second));
		t.is(await sessions.find('hash', clock.now + 30 * day), undefined);
	});

	rule('a session is never seen earlier than it was', async (t, { users, sessions }, clock) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		await sessions.add('hash', alice.id);
		await sessions.touch('hash', clock.now + 2 * second);
		await sessions.touch('hash', clock.now + second);
		t.is((await sessions.find('hash', clock.now))?.session.lastSeenAt, clock.now + 2 * second);
	});

	rule('a disabled user has no session, and none comes back', async (t, { users, sessions }, clock) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		await sessions.add('before', alice.id);
		await users.setDisabled(alice.id, true);
		t.true((await users.find('alice'))?.isDisabled);
		t.is(await sessions.find('before', clock.now), undefined);
		await sessions.add('while', alice.id);
		t.is(await sessions.find('while', clock.now), undefined);
		await users.setDisabled(alice.id, true);
		await users.setDisabled(alice.id, false);
		t.false((await users.find('alice'))?.isDisabled);
		t.is(await sessions.find('before', clock.now), undefined);
	});

	rule('sessions are ended one by one, or all but one', async (t, { users, sessions }, clock) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const bob = await users.add({ username: 'bob', secret: 's' });
		for (const hash of ['a1', 'a2', 'a3', 'a4']) await sessions.add(hash, alice.id);
		await sessions.add('b1', bob.id);
		const living = async () => {
			const found = await Promise.all(
				['a1', 'a2', 'a3', 'a4', 'b1'].map(async (hash) => ((await sessions.find(hash, clock.now)) ? hash : '')),
			);
			return found.filter(Boolean).join(' ');
		};
		await sessions.remove('a1');
		await sessions.remove('a1');
		t.is(await living(), 'a2 a3 a4 b1');
		await sessions.removeAll(alice.id, 'a3');
		t.is(await living(), 'a3 b1');
		await sessions.removeAll(alice.id);
		t.is(await living(), 'b1');
	});

	rule('sweeping forgets what is past its time and nothing else', async (t, { users, sessions }, clock) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const start = clock.now;
		await sessions.add('idle', alice.id);
		await sessions.add('old', alice.id);
		await sessions.touch('old', start + 30 * day);
		clock.now = start + 29 * day;
		await sessions.add('young', alice.id);
		t.is(await sessions.sweep(start + 30 * day), 2);
		t.is(await sessions.sweep(start + 30 * day), 0);
		t.truthy(await sessions.find('young', start + 30 * day));
	});
}
