import { isFailure } from '@stowage/rules';
import { day, type Rule, refuses, second } from './rules.js';

/** Sessions of signed-in users and when they end. */
export function sessionRules(assertThat: Rule): void {
	assertThat('a session is found with its user', async (t, { users, sessions }, clock) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		await sessions.add('hash', alice);
		const { secret: _, ...user } = alice;
		t.deepEqual(await sessions.find('hash', clock.now), {
			session: { userId: alice.id, createdAt: clock.now, lastSeenAt: clock.now },
			user,
		});
		t.is(await sessions.find('HASH', clock.now), undefined);
		t.is(await sessions.find('hash ', clock.now), undefined);
		t.is(await sessions.find('', clock.now), undefined);
	});

	assertThat('findValid returns those of many sessions that have not ended', async (t, { users, sessions }, clock) => {
		const [alice, bob] = await Promise.all(['alice', 'bob'].map((username) => users.add({ username, secret: 's' })));
		if (alice === undefined || bob === undefined) return t.fail();
		const hashes = Array.from({ length: 450 }, (_, index) => `unknown ${index}`);
		for (const [idHash, user] of [
			['a', alice],
			['b', bob],
			['c', alice],
		] as const)
			await sessions.add(idHash, user);
		hashes.splice(300, 0, 'a', 'b', 'c');
		t.deepEqual(await sessions.findValid(hashes, clock.now), new Set(['a', 'b', 'c']));
		await sessions.remove('c');
		await users.setDisabled(bob.id, true);
		t.deepEqual(await sessions.findValid(hashes, clock.now), new Set(['a']));
		t.deepEqual(await sessions.findValid(hashes, clock.now + 7 * day), new Set());
		t.deepEqual(await sessions.findValid([], clock.now), new Set());
	});

	assertThat('a session ends after 7 days without use', async (t, { users, sessions }, clock) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		await sessions.add('hash', alice);
		t.truthy(await sessions.find('hash', clock.now + 7 * day - second));
		t.is(await sessions.find('hash', clock.now + 7 * day), undefined);
		await sessions.touch('hash', clock.now + 6 * day);
		t.is((await sessions.find('hash', clock.now + 12 * day))?.session.lastSeenAt, clock.now + 6 * day);
		t.is(await sessions.find('hash', clock.now + 13 * day), undefined);
	});

	assertThat('a session ends after 30 days, also when it is in use', async (t, { users, sessions }, clock) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		await sessions.add('hash', alice);
		for (let days = 1; days < 30; days++) await sessions.touch('hash', clock.now + days * day);
		t.truthy(await sessions.find('hash', clock.now + 30 * day - second));
		t.is(await sessions.find('hash', clock.now + 30 * day), undefined);
	});

	assertThat(
		'a session that began while the clock was years ahead is not valid until then',
		async (t, { users, sessions }, clock) => {
			const alice = await users.add({ username: 'alice', secret: 's' });
			await sessions.add('hash', alice);
			t.truthy(await sessions.find('hash', clock.now - 600 * second));
			t.is(await sessions.find('hash', clock.now - 365 * day), undefined);
			t.truthy(await sessions.find('hash', clock.now));
		},
	);

	assertThat('the last use of a session never moves back', async (t, { users, sessions }, clock) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		await sessions.add('hash', alice);
		await sessions.touch('hash', clock.now + 2 * second);
		await sessions.touch('hash', clock.now + second);
		t.is((await sessions.find('hash', clock.now))?.session.lastSeenAt, clock.now + 2 * second);
	});

	assertThat(
		'disabling a user ends their sessions, and enabling the user restores none',
		async (t, { users, sessions }, clock) => {
			const alice = await users.add({ username: 'alice', secret: 's' });
			await sessions.add('before', alice);
			await users.setDisabled(alice.id, true);
			t.true((await users.find('alice'))?.isDisabled);
			t.is(await sessions.find('before', clock.now), undefined);
			await refuses(t, 'conflict', async () => sessions.add('while', (await users.get(alice.id)) ?? alice));
			await users.setDisabled(alice.id, true);
			await users.setDisabled(alice.id, false);
			t.false((await users.find('alice'))?.isDisabled);
			t.is(await sessions.find('before', clock.now), undefined);
		},
	);

	assertThat(
		'a session is removed on its own, and all sessions of a user end with a new password',
		async (t, { users, sessions }, clock) => {
			const alice = await users.add({ username: 'alice', secret: 's' });
			const bob = await users.add({ username: 'bob', secret: 's' });
			for (const hash of ['a1', 'a2', 'a3', 'a4']) await sessions.add(hash, alice);
			await sessions.add('b1', bob);
			const living = async () => {
				const found = await Promise.all(
					['a1', 'a2', 'a3', 'a4', 'b1'].map(async (hash) => ((await sessions.find(hash, clock.now)) ? hash : '')),
				);
				return found.filter(Boolean).join(' ');
			};
			await sessions.remove('a1');
			await sessions.remove('a1');
			t.is(await living(), 'a2 a3 a4 b1');
			await users.renewSecret(alice.id, 'same password', 's');
			t.is(await living(), 'a2 a3 a4 b1');
			await users.setSecret(alice.id, 'new');
			t.is(await living(), 'b1');
		},
	);

	assertThat(
		'no session that begins with the former generation survives a concurrent change of the secret',
		async (t, { users, sessions }, clock) => {
			const alice = await users.add({ username: 'alice', secret: 'old' });
			const begin = (hash: string) => sessions.add(hash, alice).catch((error) => error);
			const before = Array.from({ length: 20 }, (_, n) => `before ${n}`);
			const after = Array.from({ length: 20 }, (_, n) => `after ${n}`);
			const [early, generation, late] = await Promise.all([
				Promise.all(before.map(begin)),
				users.setSecret(alice.id, 'new'),
				Promise.all(after.map(begin)),
			]);
			for (const failure of [...early, ...late])
				t.true(failure === undefined || isFailure(failure, 'conflict'), String(failure));
			for (const hash of [...before, ...after]) t.is(await sessions.find(hash, clock.now), undefined, hash);
			await sessions.add('new', { ...alice, generation });
			t.truthy(await sessions.find('new', clock.now));
		},
	);

	assertThat(
		'removing all sessions except the own one keeps that one and ends concurrently added ones',
		async (t, { users, sessions }, clock) => {
			const alice = await users.add({ username: 'alice', secret: 's' });
			for (const hash of ['own', 'other', 'third']) await sessions.add(hash, alice);
			const begin = (hash: string) => sessions.add(hash, alice).catch((error) => error);
			const late = Array.from({ length: 10 }, (_, n) => `late ${n}`);
			const [ended, ...failures] = await Promise.all([sessions.removeOf(alice.id, 'own'), ...late.map(begin)]);
			t.true(ended >= 2);
			for (const failure of failures) t.true(failure === undefined || isFailure(failure, 'conflict'), String(failure));
			for (const hash of ['other', 'third', ...late]) t.is(await sessions.find(hash, clock.now), undefined, hash);
			t.truthy(await sessions.find('own', clock.now));
			t.is((await users.get(alice.id))?.generation, alice.generation + 1);
			t.is(await sessions.removeOf(alice.id, 'other'), 1, 'an ended session is not kept');
			t.is(await sessions.find('own', clock.now), undefined);
			await refuses(t, 'notFound', () => sessions.removeOf('unknown'));
		},
	);

	assertThat(
		'a user has at most 100 sessions, and one more ends the least recently used one',
		async (t, { users, sessions }, clock) => {
			const alice = await users.add({ username: 'alice', secret: 's' });
			const bob = await users.add({ username: 'bob', secret: 's' });
			await sessions.add('bob', bob);
			const isAlive = async (hash: string) => (await sessions.find(hash, clock.now)) !== undefined;
			for (let n = 0; n < 100; n++) {
				await sessions.add(`session ${n}`, alice);
				clock.now += second;
			}
			await sessions.touch('session 0', clock.now);
			await Promise.all([1, 2, 3].map((n) => sessions.add(`more ${n}`, alice)));
			const living = await Promise.all(Array.from({ length: 100 }, (_, n) => isAlive(`session ${n}`)));
			t.deepEqual(living, [true, false, false, false, ...Array(96).fill(true)]);
			for (const n of [1, 2, 3]) t.true(await isAlive(`more ${n}`));
			t.true(await isAlive('bob'));
		},
	);

	assertThat(
		'sessions of a user are listed with the client and time of their sign-in',
		async (t, { users, sessions }, clock) => {
			const [alice, bob] = await Promise.all(['alice', 'bob'].map((username) => users.add({ username, secret: 's' })));
			if (alice === undefined || bob === undefined) return t.fail();
			const start = clock.now;
			await sessions.add('first', alice, { userAgent: 'u'.repeat(1000), address: '2001:db8::1' });
			clock.now += second;
			await sessions.add('second', alice);
			await sessions.add('of bob', bob);
			await sessions.touch('first', start + 10 * second);
			t.deepEqual(await sessions.list(alice.id, clock.now), [
				{
					idHash: 'first',
					userId: alice.id,
					createdAt: start,
					lastSeenAt: start + 10 * second,
					userAgent: 'u'.repeat(255),
					address: '2001:db8::1',
				},
				{
					idHash: 'second',
					userId: alice.id,
					createdAt: clock.now,
					lastSeenAt: clock.now,
					userAgent: null,
					address: null,
				},
			]);
			t.deepEqual(await sessions.list(alice.id, clock.now + 30 * day), [], 'no expired session');
		},
	);

	assertThat('all sessions of a user end, or all but one', async (t, { users, sessions }, clock) => {
		const [alice, bob] = await Promise.all(['alice', 'bob'].map((username) => users.add({ username, secret: 's' })));
		if (alice === undefined || bob === undefined) return t.fail();
		for (const idHash of ['a', 'b', 'c']) await sessions.add(idHash, alice);
		await sessions.add('of bob', bob);
		t.is(await sessions.removeOf(alice.id, 'b'), 2);
		t.deepEqual(await sessions.findValid(['a', 'b', 'c', 'of bob'], clock.now), new Set(['b', 'of bob']));
		t.is(await sessions.removeOf(alice.id), 1);
		t.deepEqual(await sessions.findValid(['a', 'b', 'c', 'of bob'], clock.now), new Set(['of bob']));
	});

	assertThat('sweeping removes expired sessions only', async (t, { users, sessions }, clock) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const start = clock.now;
		await sessions.add('idle', alice);
		await sessions.add('old', alice);
		await sessions.touch('old', start + 30 * day);
		clock.now = start + 29 * day;
		await sessions.add('young', alice);
		t.is(await sessions.sweep(start + 30 * day), 2);
		t.is(await sessions.sweep(start + 30 * day), 0);
		t.truthy(await sessions.find('young', start + 30 * day));
	});
}
