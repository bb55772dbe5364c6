import { foreignValues, type Rule, refuses } from './rules.js';

const begun = { secret: 'JBSWY3DPEHPK3PXP', session: 'a session', recoveryHashes: ['one', 'two', 'three'] };

/** Second factors of users. */
export function secondFactorRules(assertThat: Rule): void {
	assertThat('a second factor is not enabled until it is confirmed', async (t, { users, secondFactors }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		t.is(await secondFactors.find(alice.id), undefined);
		t.is(await secondFactors.enable(alice.id, begun.secret, 7), undefined);
		await secondFactors.begin(alice.id, begun);
		t.deepEqual(await secondFactors.find(alice.id), { ...begun, isEnabled: false, lastStep: 0 });
		t.false(await secondFactors.useStep(alice.id, begun.secret, 7));
		t.false(await secondFactors.useRecoveryCode(alice.id, 'one'));
		t.deepEqual(await secondFactors.enabledUserIds(), new Set());
		t.is(await secondFactors.enable(alice.id, 'another secret', 7), undefined);
		t.is(await secondFactors.enable(alice.id, begun.secret, 7), alice.generation + 1);
		t.deepEqual(await secondFactors.find(alice.id), { ...begun, isEnabled: true, lastStep: 7 });
		t.deepEqual(await secondFactors.enabledUserIds(), new Set([alice.id]));
	});

	assertThat(
		'enabling a second factor ends all sessions of its user',
		async (t, { users, sessions, secondFactors }, clock) => {
			const alice = await users.add({ username: 'alice', secret: 's' });
			const bob = await users.add({ username: 'bob', secret: 's' });
			for (const [user, id] of [
				[alice, 'one'],
				[alice, 'two'],
				[bob, 'three'],
			] as const)
				await sessions.add(id, user);
			await secondFactors.begin(alice.id, begun);
			t.is(await secondFactors.enable(alice.id, 'another secret', 7), undefined);
			t.truthy(await sessions.find('one', clock.now), 'a refused call ends none');
			const generation = await secondFactors.enable(alice.id, begun.secret, 7);
			for (const id of ['one', 'two']) t.is(await sessions.find(id, clock.now), undefined);
			t.truthy(await sessions.find('three', clock.now));
			// A sign-in whose password was verified before.
			await refuses(t, 'conflict', () => sessions.add('late', alice));
			await sessions.add('new', { ...alice, generation: generation ?? -1 });
			t.truthy(await sessions.find('new', clock.now));
		},
	);

	assertThat(
		'a second factor that is expected in one state is removed in no other, and no other one is',
		async (t, { users, secondFactors }) => {
			const alice = await users.add({ username: 'alice', secret: 's' });
			const { secret } = begun;
			const remove = (expected: { secret: string; isEnabled: boolean }) => secondFactors.remove(alice.id, expected);
			const changed = (expected: { secret: string; isEnabled: boolean }) =>
				refuses(t, 'conflict', () => remove(expected));
			t.false(await remove({ secret, isEnabled: false }), 'there is none');
			await secondFactors.begin(alice.id, begun);
			await changed({ secret: 'another secret', isEnabled: false });
			await changed({ secret, isEnabled: true });
			t.false(await remove({ secret, isEnabled: false }));
			t.is(await secondFactors.find(alice.id), undefined);
			await secondFactors.begin(alice.id, begun);
			await secondFactors.enable(alice.id, secret, 7);
			await changed({ secret: 'another secret', isEnabled: true });
			await changed({ secret, isEnabled: false });
			t.like(await secondFactors.find(alice.id), { isEnabled: true });
			t.true(await remove({ secret, isEnabled: true }));
			t.is(await secondFactors.find(alice.id), undefined);
		},
	);

	assertThat(
		'a second factor is not enabled by who expects an outdated generation of its user',
		async (t, { users, sessions, secondFactors }, clock) => {
			const alice = await users.add({ username: 'alice', secret: 's' });
			await secondFactors.begin(alice.id, begun);
			await sessions.removeOf(alice.id);
			const generation = alice.generation + 1;
			await sessions.add('new', { ...alice, generation });
			await refuses(t, 'conflict', () => secondFactors.enable(alice.id, begun.secret, 7, alice.generation));
			t.like(await secondFactors.find(alice.id), { isEnabled: false, lastStep: 0 });
			t.truthy(await sessions.find('new', clock.now));
			t.is(await secondFactors.enable(alice.id, begun.secret, 7, generation), generation + 1);
		},
	);

	assertThat(
		'a second factor replaces one that is not enabled, and no enabled one',
		async (t, { users, secondFactors }) => {
			const alice = await users.add({ username: 'alice', secret: 's' });
			await secondFactors.begin(alice.id, { secret: 'OLD', session: 'a session', recoveryHashes: ['old'] });
			await secondFactors.begin(alice.id, begun);
			t.is(await secondFactors.enable(alice.id, 'OLD', 7), undefined);
			t.is(await secondFactors.enable(alice.id, begun.secret, 7), alice.generation + 1);
			t.is(await secondFactors.enable(alice.id, begun.secret, 8), undefined);
			await refuses(t, 'conflict', () =>
				secondFactors.begin(alice.id, { secret: 'NEW', session: 'a session', recoveryHashes: [] }),
			);
			t.deepEqual(await secondFactors.find(alice.id), { ...begun, isEnabled: true, lastStep: 7 });
		},
	);

	assertThat('the code of a time step and of each earlier one is used up', async (t, { users, secondFactors }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		await secondFactors.begin(alice.id, begun);
		await secondFactors.enable(alice.id, begun.secret, 7);
		t.false(await secondFactors.useStep(alice.id, begun.secret, 7));
		t.true(await secondFactors.useStep(alice.id, begun.secret, 9));
		t.false(await secondFactors.useStep(alice.id, begun.secret, 9));
		t.false(await secondFactors.useStep(alice.id, begun.secret, 8));
		t.false(await secondFactors.useStep(alice.id, 'another secret', 10));
		t.true(await secondFactors.useStep(alice.id, begun.secret, 10));
	});

	assertThat('exactly one of many concurrent uses of a code succeeds', async (t, { users, secondFactors }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		await Promise.all(Array.from({ length: 10 }, () => secondFactors.begin(alice.id, begun)));
		const count = async (use: () => Promise<boolean | number | undefined>) => {
			const results = await Promise.all(Array.from({ length: 20 }, use));
			return results.filter(Boolean).length;
		};
		t.is(await count(() => secondFactors.enable(alice.id, begun.secret, 7)), 1);
		t.is(await count(() => secondFactors.useStep(alice.id, begun.secret, 8)), 1);
		t.is(await count(() => secondFactors.useRecoveryCode(alice.id, 'two')), 1);
		t.deepEqual(await secondFactors.find(alice.id), {
			...begun,
			isEnabled: true,
			lastStep: 8,
			recoveryHashes: ['one', 'three'],
		});
	});

	assertThat('all of several recovery codes that are used at once are used up', async (t, { users, secondFactors }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		await secondFactors.begin(alice.id, begun);
		await secondFactors.enable(alice.id, begun.secret, 7);
		const used = await Promise.all(['one', 'two'].map((hash) => secondFactors.useRecoveryCode(alice.id, hash)));
		t.deepEqual(used, [true, true]);
		t.false(await secondFactors.useRecoveryCode(alice.id, 'one'));
		t.false(await secondFactors.useRecoveryCode(alice.id, 'unknown'));
		t.deepEqual((await secondFactors.find(alice.id))?.recoveryHashes, ['three']);
	});

	assertThat('a second factor belongs to its user alone', async (t, { users, secondFactors }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const bob = await users.add({ username: 'bob', secret: 's' });
		await secondFactors.begin(alice.id, begun);
		await secondFactors.begin(bob.id, { secret: 'BOB', session: 'a session', recoveryHashes: ['four'] });
		await secondFactors.enable(alice.id, begun.secret, 7);
		t.false(await secondFactors.useRecoveryCode(alice.id, 'four'));
		t.false(await secondFactors.remove(bob.id));
		t.is(await secondFactors.find(bob.id), undefined);
		t.true(await secondFactors.remove(alice.id));
		t.false(await secondFactors.remove(alice.id));
		t.is(await secondFactors.find(alice.id), undefined);
	});

	assertThat('a second factor stays through all changes of its user, and ends with the user', async (t, db) => {
		const { users, secondFactors } = db;
		const alice = await users.add({ username: 'alice', secret: 's' });
		await secondFactors.begin(alice.id, begun);
		await secondFactors.enable(alice.id, begun.secret, 7);
		const factor = await secondFactors.find(alice.id);
		await users.renewSecret(alice.id, 'renewed', 's');
		await users.setSecret(alice.id, 'changed');
		await users.rename(alice.id, 'alicia', true);
		await users.setDisabled(alice.id, false);
		t.deepEqual(await secondFactors.find(alice.id), factor);
		t.is((await users.get(alice.id))?.secret, 'changed');
		await secondFactors.remove(alice.id);
		t.is((await users.get(alice.id))?.secret, 'changed', 'the password stays without the second factor');
		await secondFactors.begin(alice.id, begun);
		await users.remove(alice.id);
		t.is(await secondFactors.find(alice.id), undefined);
	});

	assertThat('a second factor of an unknown user is refused', async (t, { secondFactors }) => {
		await refuses(t, 'notFound', () => secondFactors.begin('unknown', begun));
		t.is(await secondFactors.enable('unknown', begun.secret, 7), undefined);
		t.false(await secondFactors.remove('unknown'));
	});

	for (const [kind, value] of foreignValues) {
		assertThat(`${kind} in place of a second factor’s text is refused`, async (t, { users, secondFactors }) => {
			const alice = await users.add({ username: 'alice', secret: 's' });
			const text = value as string;
			await t.throwsAsync(async () => secondFactors.begin(text, begun));
			t.false(await secondFactors.useRecoveryCode(alice.id, text));
			t.is(await secondFactors.find(alice.id), undefined);
		});
	}
}
