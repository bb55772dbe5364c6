import { defaultSettings, isFailure } from '@stowage/rules';
import { day, foreignValues, hostileTexts, type Rule, refuses } from './rules.js';

/** Accounts and their settings. */
export function userRules(assertThat: Rule): void {
	assertThat('a user is found by name and by id as it was added', async (t, { users }, clock) => {
		const added = await users.add({ username: 'Alice', secret: '$argon2id$secret' });
		t.regex(added.id, /^[0-9a-f-]{36}$/);
		t.deepEqual(added, {
			id: added.id,
			username: 'Alice',
			secret: '$argon2id$secret',
			isDisabled: false,
			createdAt: clock.now,
			generation: 0,
		});
		t.deepEqual(await users.find('Alice'), added);
		t.deepEqual(await users.get(added.id), added);
	});

	assertThat('an unknown user is not found', async (t, { users }) => {
		await users.add({ username: 'alice', secret: 's' });
		t.is(await users.find('bob'), undefined);
		t.is(await users.find(''), undefined);
		t.is(await users.get('00000000-0000-0000-0000-000000000000'), undefined);
	});

	assertThat('usernames are found and unique without regard to case', async (t, { users, homes }) => {
		const alice = await users.add({ username: 'Alice', secret: 's' });
		t.is((await users.find('aLICE'))?.id, alice.id);
		await refuses(t, 'alreadyExists', () => users.add({ username: 'ALICE', secret: 'other' }));
		await refuses(t, 'alreadyExists', () => users.add({ username: 'Alice', secret: 'other', rootId: 'elsewhere' }));
		t.is(await homes.find('Alice'), undefined, 'nor is a home assigned');
		await homes.set('bob', 'former');
		await users.add({ username: 'bob', secret: 's', rootId: 'new' });
		t.is(await homes.find('bob'), 'new');
		t.is((await users.find('alice'))?.secret, 's');
	});

	assertThat('only one of many concurrent additions of a username succeeds', async (t, { users }) => {
		const names = ['alice', 'Alice', 'ALICE', 'aLiCe', 'alicE', 'AlIcE', 'alIce', 'ALice'];
		const results = await Promise.allSettled(names.map((username) => users.add({ username, secret: username })));
		t.is(results.filter((result) => result.status === 'fulfilled').length, 1);
		for (const result of results) {
			if (result.status === 'rejected') t.true(isFailure(result.reason, 'alreadyExists'), String(result.reason));
		}
		t.is((await users.list()).length, 1);
	});

	assertThat('users are listed by name', async (t, { users }) => {
		for (const username of ['bob', 'Carol', 'alice', '0zero']) await users.add({ username, secret: 's' });
		const listed = await users.list();
		t.deepEqual(
			listed.map((user) => user.username),
			['0zero', 'alice', 'bob', 'Carol'],
		);
	});

	assertThat(
		'an overview has quotas, last sign-ins and measured use, and nothing of a password',
		async (t, { users, sessions }, clock) => {
			const bob = await users.add({ username: 'bob', secret: 's' });
			const alice = await users.add({ username: 'alice', secret: 's' });
			const nothing = { quota: { bytes: null, entries: null }, lastSignInAt: null, used: null };
			const { secret: _, ...ofAlice } = alice;
			const { secret: _of, ...ofBob } = bob;
			t.deepEqual(await users.overview(), [
				{ ...ofAlice, ...nothing },
				{ ...ofBob, ...nothing },
			]);
			clock.now += day;
			await sessions.add('one', alice);
			await users.setQuota(alice.id, { bytes: 0, entries: Number.MAX_SAFE_INTEGER });
			const used = { bytes: Number.MAX_SAFE_INTEGER, entries: 3, measuredAt: clock.now };
			await users.setUsed(alice.id, used);
			await users.setUsed('00000000-0000-0000-0000-000000000000', used);
			const quota = { bytes: 0, entries: Number.MAX_SAFE_INTEGER };
			t.deepEqual(await users.overview(), [
				{ ...ofAlice, quota, lastSignInAt: clock.now, used },
				{ ...ofBob, ...nothing },
			]);
			await sessions.remove('one');
			await users.setUsed(alice.id, { bytes: 0, entries: 0, measuredAt: clock.now + 1 });
			const [now] = await users.overview();
			t.is(now?.lastSignInAt, clock.now, 'it is known also after the session has ended');
			t.deepEqual(now?.used, { bytes: 0, entries: 0, measuredAt: clock.now + 1 });
		},
	);

	assertThat('texts with special characters are usernames like any other', async (t, { users }) => {
		const added = new Map<string, string>();
		for (const username of hostileTexts) added.set(username, (await users.add({ username, secret: username })).id);
		for (const [username, id] of added) {
			const found = await users.find(username);
			t.deepEqual([found?.id, found?.username, found?.secret], [id, username, username]);
		}
		t.is((await users.list()).length, hostileTexts.length);
	});

	for (const [kind, value] of foreignValues) {
		assertThat(`${kind} in place of a text is refused and changes nothing`, async (t, { users, sessions, homes }) => {
			const alice = await users.add({ username: 'alice', secret: 's' });
			await sessions.add('hash', alice);
			const text = value as string;
			await t.throwsAsync(async () => users.add({ username: text, secret: 's' }));
			await t.throwsAsync(async () => users.add({ username: 'bob', secret: text }));
			await t.throwsAsync(async () => users.find(text));
			await t.throwsAsync(async () => users.get(text));
			await t.throwsAsync(async () => users.setSecret(alice.id, text));
			await t.throwsAsync(async () => users.setSecret(text, 'stolen'));
			await t.throwsAsync(async () => users.remove(text));
			await t.throwsAsync(async () => sessions.find(text, 0));
			await t.throwsAsync(async () => sessions.remove(text));
			await t.throwsAsync(async () => homes.set('default', text));
			t.deepEqual(await users.list(), [alice]);
			t.is(await homes.find('default'), undefined);
		});
	}

	assertThat('a new secret replaces the old one', async (t, { users }) => {
		const alice = await users.add({ username: 'alice', secret: 'old' });
		const bob = await users.add({ username: 'bob', secret: 'old' });
		const long = '\\\'"%🔑'.repeat(200);
		await users.setSecret(alice.id, long);
		t.is((await users.get(alice.id))?.secret, long);
		t.is((await users.get(bob.id))?.secret, 'old');
	});

	assertThat('a secret is not renewed if it was changed meanwhile', async (t, { users }) => {
		const alice = await users.add({ username: 'alice', secret: 'old' });
		await users.renewSecret(alice.id, 'new', 'old');
		await refuses(t, 'conflict', () => users.renewSecret(alice.id, 'late', 'old'));
		t.is((await users.get(alice.id))?.secret, 'new');
	});

	assertThat(
		'a session of a disabled user or of an outdated generation is refused',
		async (t, { users, sessions }, clock) => {
			const alice = await users.add({ username: 'alice', secret: 'old' });
			await sessions.add('first', alice);
			t.is((await sessions.find('first', clock.now))?.user.id, alice.id);
			const generation = await users.setSecret(alice.id, 'new');
			t.is((await users.get(alice.id))?.generation, generation);
			await refuses(t, 'conflict', () => sessions.add('late', alice));
			await sessions.add('second', { ...alice, generation });
			t.is((await sessions.find('second', clock.now))?.user.generation, generation);
			await users.setDisabled(alice.id, true);
			const disabled = (await users.get(alice.id)) ?? alice;
			await refuses(t, 'conflict', () => sessions.add('disabled', disabled));
			await users.setDisabled(alice.id, false);
			t.is(await sessions.find('second', clock.now), undefined);
			t.is(await sessions.find('late', clock.now), undefined);
			t.is(await sessions.find('disabled', clock.now), undefined);
		},
	);

	assertThat('only one of several concurrent new secrets for one generation is stored', async (t, { users }) => {
		const alice = await users.add({ username: 'alice', secret: 'old' });
		await users.renewSecret(alice.id, 'same password', 'old');
		const results = await Promise.allSettled(
			['one', 'two', 'three'].map((secret) => users.setSecret(alice.id, secret, alice.generation)),
		);
		t.is(results.filter(({ status }) => status === 'fulfilled').length, 1);
		for (const each of results)
			if (each.status === 'rejected') t.true(isFailure(each.reason, 'conflict'), String(each.reason));
		t.regex((await users.get(alice.id))?.secret ?? '', /^(one|two|three)$/);
	});

	assertThat(
		'a renamed user keeps everything except the name and the sessions',
		async (t, { users, sessions }, clock) => {
			const alice = await users.add({ username: 'alice', secret: 's' });
			await users.add({ username: 'bob', secret: 's' });
			await sessions.add('hash', alice);
			const failure = await t.throwsAsync(() => users.rename(alice.id, 'BOB', true));
			t.true(isFailure(failure, 'alreadyExists'));
			t.deepEqual(await users.get(alice.id), alice);
			t.truthy(await sessions.find('hash', clock.now));
			await users.rename(alice.id, 'Alicia', true);
			t.deepEqual(await users.find('ALICIA'), { ...alice, username: 'Alicia', isDisabled: true, generation: 1 });
			t.is(await users.find('alice'), undefined);
			t.deepEqual(await sessions.list(alice.id, clock.now), []);
			await users.rename(alice.id, 'alicia', false);
			t.deepEqual(await users.get(alice.id), { ...alice, username: 'alicia', generation: 2 });
		},
	);

	assertThat('a change of an unknown user is refused', async (t, { users, sessions }) => {
		await refuses(t, 'notFound', () => users.setSecret('unknown', 's'));
		await refuses(t, 'notFound', () => users.setDisabled('unknown', true));
		await refuses(t, 'notFound', () => users.changeSettings('unknown', { enablePreview: false }));
		await refuses(t, 'notFound', () => sessions.add('hash', { id: 'unknown', generation: 0 }));
	});

	assertThat('removing a user removes their sessions and settings and frees the name', async (t, db, clock) => {
		const alice = await db.users.add({ username: 'alice', secret: 's' });
		const bob = await db.users.add({ username: 'bob', secret: 's' });
		await db.sessions.add('alice-1', alice);
		await db.sessions.add('bob-1', bob);
		await db.users.changeSettings(alice.id, { enablePreview: false });
		await db.users.remove(alice.id);
		await db.users.remove(alice.id);
		t.is(await db.users.find('alice'), undefined);
		t.is(await db.sessions.find('alice-1', clock.now), undefined);
		t.truthy(await db.sessions.find('bob-1', clock.now));
		const again = await db.users.add({ username: 'ALICE', secret: 's' });
		t.not(again.id, alice.id);
		t.deepEqual(await db.users.settings(again.id), defaultSettings);
	});

	assertThat('a quota is the one set last, and the configured one until then', async (t, { users }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const bob = await users.add({ username: 'bob', secret: 's' });
		t.deepEqual(await users.quota(alice.id), { bytes: null, entries: null });
		await users.setQuota(alice.id, { bytes: 2 ** 45, entries: 0 });
		t.deepEqual(await users.quota(alice.id), { bytes: 2 ** 45, entries: 0 });
		t.deepEqual(await users.quota(bob.id), { bytes: null, entries: null });
		t.deepEqual(await users.get(alice.id), alice);
		await users.setQuota(alice.id, { bytes: null, entries: 5 });
		t.deepEqual(await users.quota(alice.id), { bytes: null, entries: 5 });
		t.deepEqual(await users.quota('unknown'), { bytes: null, entries: null });
		await refuses(t, 'notFound', () => users.setQuota('unknown', { bytes: 1, entries: 1 }));
	});

	assertThat('each setting has its default value until it is changed', async (t, { users }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const bob = await users.add({ username: 'bob', secret: 's' });
		t.deepEqual(await users.settings(alice.id), defaultSettings);
		t.deepEqual(await users.changeSettings(alice.id, {}), defaultSettings);
		const preview = !defaultSettings.enablePreview;
		const prompt = !defaultSettings.promptBeforeDownload;
		t.deepEqual(await users.changeSettings(alice.id, { enablePreview: preview }), {
			...defaultSettings,
			enablePreview: preview,
		});
		const both = { enablePreview: preview, promptBeforeDownload: prompt };
		t.deepEqual(await users.changeSettings(alice.id, { promptBeforeDownload: prompt }), both);
		t.deepEqual(await users.settings(alice.id), both);
		t.deepEqual(await users.settings(bob.id), defaultSettings);
	});

	assertThat('two concurrent changes of different settings are both stored', async (t, { users }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const wanted = {
			enablePreview: !defaultSettings.enablePreview,
			promptBeforeDownload: !defaultSettings.promptBeforeDownload,
		};
		await Promise.all([
			users.changeSettings(alice.id, { enablePreview: wanted.enablePreview }),
			users.changeSettings(alice.id, { promptBeforeDownload: wanted.promptBeforeDownload }),
		]);
		t.deepEqual(await users.settings(alice.id), wanted);
	});
}
