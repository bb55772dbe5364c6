import type {
	LimitStore,
	LinkStore,
	RootStore,
	SessionStore,
	SmallStore,
	UploadStore,
	UserStore,
} from '@stowage/plugin-api';
import { defaultSettings, isFailure, parsePath } from '@stowage/rules';
import type { ExecutionContext, TestFn } from 'ava';
import { uploadRules } from './repositories/uploads.js';

/** The stores of one empty database. */
export interface Repositories {
	users: UserStore;
	sessions: SessionStore;
	roots: RootStore;
	limits: LimitStore;
	links: LinkStore;
	uploads: UploadStore;
	smallRows(scope: string): SmallStore;
	sweepSmallRows(): Promise<number>;
}

export interface OpenedRepositories {
	/** The database, whose clock for what is made now is `clock`. */
	db: Repositories;
	close(): Promise<void>;
}

/** What time it is to the database under test. */
export interface Clock {
	now: number;
}

const second = 1000;
const day = 24 * 60 * 60 * second;

/** Names that try to be more than a name. All are different names, without regard to case too. */
const hostileTexts = [
	`' or '1'='1`,
	`"; drop table users; --`,
	'%',
	'_',
	'al%ce',
	'\\',
	`\\' or 1=1 -- `,
	'`users`',
	'?',
	'??',
	':name',
	'$1',
	'😀',
	'e\u0301',
	'\u00e9',
	'\u202egpj.exe',
	'alice',
	'alice ',
	' alice',
	'alicé',
	'null',
	'0',
	'00',
	'__proto__',
	'constructor',
	'line\nbreak\r\t',
];

/** Values that a careless caller could pass for a text. */
const foreignValues: [string, unknown][] = [
	['an object', { username: 1 }],
	['an array', ['alice']],
	['a nested array', [['alice', 'bob']]],
	['an empty object', {}],
	['a date', new Date(0)],
	['NaN', Number.NaN],
	['a text with NUL', 'alice\0'],
];

/** One test a rule of the stores. `open` makes an empty database for each. */
export function repositoriesSuite(
	test: TestFn,
	name: string,
	open: (clock: Clock) => Promise<OpenedRepositories>,
): void {
	const rule = (title: string, check: (t: ExecutionContext, db: Repositories, clock: Clock) => Promise<void>) =>
		test(`${name}: ${title}`, async (t) => {
			const clock = { now: Date.UTC(2030, 0, 1) };
			const { db, close } = await open(clock);
			try {
				await check(t, db, clock);
			} finally {
				await close();
			}
		});

	rule('a user is found by name and by id as it was added', async (t, { users }, clock) => {
		const added = await users.add({ username: 'Alice', secret: '$argon2id$secret' });
		t.regex(added.id, /^[0-9a-f-]{36}$/);
		t.deepEqual(added, {
			id: added.id,
			username: 'Alice',
			secret: '$argon2id$secret',
			isDisabled: false,
			createdAt: clock.now,
		});
		t.deepEqual(await users.find('Alice'), added);
		t.deepEqual(await users.get(added.id), added);
	});

	rule('nobody is found who was not added', async (t, { users }) => {
		await users.add({ username: 'alice', secret: 's' });
		t.is(await users.find('bob'), undefined);
		t.is(await users.find(''), undefined);
		t.is(await users.get('00000000-0000-0000-0000-000000000000'), undefined);
	});

	rule('a name is found, and taken, without regard to case', async (t, { users }) => {
		const alice = await users.add({ username: 'Alice', secret: 's' });
		t.is((await users.find('aLICE'))?.id, alice.id);
		await refuses(t, 'alreadyExists', () => users.add({ username: 'ALICE', secret: 'other' }));
		t.is((await users.find('alice'))?.secret, 's');
	});

	rule('of many who ask for one name at once, one gets it', async (t, { users }) => {
		const names = ['alice', 'Alice', 'ALICE', 'aLiCe', 'alicE', 'AlIcE', 'alIce', 'ALice'];
		const results = await Promise.allSettled(names.map((username) => users.add({ username, secret: username })));
		t.is(results.filter((result) => result.status === 'fulfilled').length, 1);
		for (const result of results) {
			if (result.status === 'rejected') t.true(isFailure(result.reason, 'alreadyExists'), String(result.reason));
		}
		t.is((await users.list()).length, 1);
	});

	rule('users are listed by name', async (t, { users }) => {
		for (const username of ['bob', 'Carol', 'alice', '0zero']) await users.add({ username, secret: 's' });
		const listed = await users.list();
		t.deepEqual(
			listed.map((user) => user.username),
			['0zero', 'alice', 'bob', 'Carol'],
		);
	});

	rule('hostile texts are names like any other', async (t, { users }) => {
		const added = new Map<string, string>();
		for (const username of hostileTexts) added.set(username, (await users.add({ username, secret: username })).id);
		for (const [username, id] of added) {
			const found = await users.find(username);
			t.deepEqual([found?.id, found?.username, found?.secret], [id, username, username]);
		}
		t.is((await users.list()).length, hostileTexts.length);
	});

	for (const [kind, value] of foreignValues) {
		rule(`${kind} in place of a text is refused and changes nothing`, async (t, { users, sessions, roots }) => {
			const alice = await users.add({ username: 'alice', secret: 's' });
			await sessions.add('hash', alice.id);
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
			await t.throwsAsync(async () => sessions.removeAll(text));
			await t.throwsAsync(async () => roots.set('default', text));
			t.deepEqual(await users.list(), [alice]);
			t.is(await roots.find('default'), undefined);
		});
	}

	rule('a new secret takes the place of the old one', async (t, { users }) => {
		const alice = await users.add({ username: 'alice', secret: 'old' });
		const bob = await users.add({ username: 'bob', secret: 'old' });
		const long = '\\\'"%🔑'.repeat(200);
		await users.setSecret(alice.id, long);
		t.is((await users.get(alice.id))?.secret, long);
		t.is((await users.get(bob.id))?.secret, 'old');
	});

	rule('a secret that was changed meanwhile is left as it is', async (t, { users }) => {
		const alice = await users.add({ username: 'alice', secret: 'old' });
		await users.setSecret(alice.id, 'new', 'old');
		await refuses(t, 'conflict', () => users.setSecret(alice.id, 'late', 'old'));
		t.is((await users.get(alice.id))?.secret, 'new');
	});

	rule('a session begins only with a secret that is still the user’s', async (t, { users, sessions }, clock) => {
		const alice = await users.add({ username: 'alice', secret: 'old' });
		await sessions.add('first', alice.id, 'old');
		t.is((await sessions.find('first', clock.now))?.user.id, alice.id);
		await users.setSecret(alice.id, 'new');
		await refuses(t, 'conflict', () => sessions.add('late', alice.id, 'old'));
		await users.setDisabled(alice.id, true);
		await refuses(t, 'conflict', () => sessions.add('disabled', alice.id, 'new'));
		await users.setDisabled(alice.id, false);
		t.is(await sessions.find('late', clock.now), undefined);
		t.is(await sessions.find('disabled', clock.now), undefined);
	});

	rule('changing a user who is not there is refused', async (t, { users, sessions }) => {
		await refuses(t, 'notFound', () => users.setSecret('nobody', 's'));
		await refuses(t, 'notFound', () => users.setDisabled('nobody', true));
		await refuses(t, 'notFound', () => users.changeSettings('nobody', { enablePreview: false }));
		await refuses(t, 'notFound', () => sessions.add('hash', 'nobody'));
	});

	rule('removing a user takes the sessions and settings along and frees the name', async (t, db, clock) => {
		const alice = await db.users.add({ username: 'alice', secret: 's' });
		const bob = await db.users.add({ username: 'bob', secret: 's' });
		await db.sessions.add('alice-1', alice.id);
		await db.sessions.add('bob-1', bob.id);
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

	rule('settings are the defaults until they are changed, each on its own', async (t, { users }) => {
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

	rule('two changes of settings at once both hold', async (t, { users }) => {
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

	rule('a storage root is known by the id that was set last', async (t, { roots }) => {
		t.is(await roots.find('default'), undefined);
		await roots.set('default', 'one');
		await roots.set('archive', 'other');
		t.is(await roots.find('default'), 'one');
		await roots.set('default', 'two');
		t.is(await roots.find('default'), 'two');
		t.is(await roots.find('archive'), 'other');
		t.is(await roots.find('Default'), undefined);
	});

	uploadRules(rule);

	rule('tries are counted in a window that begins with the first', async (t, { limits }) => {
		t.deepEqual(await limits.hit('key', 60 * second, 1000), { count: 1, endsAt: 61_000 });
		t.deepEqual(await limits.hit('key', 60 * second, 30_000), { count: 2, endsAt: 61_000 });
		t.deepEqual(await limits.hit('Key', 60 * second, 30_000), { count: 1, endsAt: 90_000 });
		t.deepEqual(await limits.hit('key', 60 * second, 60_999), { count: 3, endsAt: 61_000 });
		t.deepEqual(await limits.hit('key', 60 * second, 61_000), { count: 1, endsAt: 121_000 });
	});

	rule('of many tries at once each is counted', async (t, { limits }) => {
		const results = await Promise.all(Array.from({ length: 40 }, () => limits.hit('key', 60 * second, 1000)));
		const counts = results.map((result) => result.count).sort((a, b) => a - b);
		t.deepEqual(
			counts,
			Array.from({ length: 40 }, (_, index) => index + 1),
		);
	});

	rule('a try that was taken back does not count', async (t, { limits }) => {
		await limits.release('key');
		await limits.hit('key', 60 * second, 1000);
		await limits.hit('key', 60 * second, 1000);
		await limits.release('key');
		t.is((await limits.hit('key', 60 * second, 2000)).count, 2);
		for (let times = 0; times < 5; times++) await limits.release('key');
		t.deepEqual(await limits.hit('key', 60 * second, 3000), { count: 1, endsAt: 61_000 });
	});

	rule('large amounts are counted and taken back', async (t, { limits }) => {
		const terabyte = 2 ** 40;
		t.deepEqual(await limits.hit('key', 60 * second, 1000, terabyte), { count: terabyte, endsAt: 61_000 });
		t.is((await limits.hit('key', 60 * second, 2000, 5)).count, terabyte + 5);
		await limits.release('key', terabyte);
		t.is((await limits.hit('key', 60 * second, 2000)).count, 6);
		t.is((await limits.hit('key', 60 * second, 61_000, 7)).count, 7);
	});

	rule('any text is a key of its own', async (t, { limits }) => {
		const keys = [...hostileTexts, 'a'.repeat(100_000), `${'a'.repeat(99_999)}b`, 'a\0b', 'a\0c', ''];
		for (const key of keys) t.is((await limits.hit(key, 60 * second, 1000)).count, 1, key.slice(0, 40));
	});

	rule(
		'a small row is what was set last, until its time has passed',
		async (t, { smallRows, sweepSmallRows }, clock) => {
			const tickets = smallRows('tickets');
			t.is(await tickets.get('one'), undefined);
			await tickets.set('one', { files: ['ä', '😀'], size: 2 ** 40 }, 60 * second);
			await tickets.set('one', { files: [], size: 0 }, 60 * second);
			await tickets.set('two', 'text', 120 * second);
			t.deepEqual(await tickets.get('one'), { files: [], size: 0 });
			clock.now += 60 * second;
			t.is(await tickets.get('one'), undefined);
			t.deepEqual(await tickets.getMany(['one', 'two']), new Map([['two', 'text']]));
			t.is(await sweepSmallRows(), 1);
			t.is(await sweepSmallRows(), 0);
			t.is(await tickets.get('two'), 'text');
		},
	);

	rule('scopes and keys of small rows are told apart', async (t, { smallRows }) => {
		const tickets = smallRows('tickets');
		for (const key of hostileTexts) await tickets.set(key, key, 60 * second);
		for (const key of hostileTexts) t.is(await tickets.get(key), key);
		for (const key of hostileTexts) t.is(await smallRows('Tickets').get(key), undefined);
		await smallRows('other').set('alice', 'other', 60 * second);
		t.is(await tickets.get('alice'), 'alice');
	});

	rule('of many who remove one small row at once, one is told that it was there', async (t, { smallRows }) => {
		const tickets = smallRows('tickets');
		await tickets.set('key', 1, 60 * second);
		const removed = await Promise.all(Array.from({ length: 8 }, () => tickets.remove('key')));
		t.is(removed.filter(Boolean).length, 1);
		t.is(await tickets.get('key'), undefined);
	});

	rule('many small rows are written and read at once', async (t, { smallRows }) => {
		const sums = smallRows('sums');
		const values = new Map(Array.from({ length: 1000 }, (_, index) => [`file ${index}`, index]));
		await sums.setMany(values, 60 * second);
		const found = await sums.getMany([...values.keys(), 'none']);
		t.deepEqual(new Map([...found].sort((a, b) => Number(a[1]) - Number(b[1]))), values);
		t.deepEqual(await sums.getMany([]), new Map());
	});

	const linkOf = (owner: { id: string }, name: string, expiresAt = 1000) => ({
		tokenHash: `hash of ${name}`,
		ownerId: owner.id,
		path: parsePath(name),
		itemId: `id of ${name}`,
		expiresAt,
	});

	rule('a link is found by the hash of its token as it was added', async (t, { users, links }, clock) => {
		const alice = await users.add({ username: 'Alice', secret: 's' });
		const added = await links.add(linkOf(alice, 'docs/ä 😀.txt', clock.now + day));
		t.deepEqual(added, {
			id: added.id,
			owner: { id: alice.id, username: 'Alice' },
			path: parsePath('docs/ä 😀.txt'),
			nextPath: undefined,
			itemId: 'id of docs/ä 😀.txt',
			createdAt: clock.now,
			expiresAt: clock.now + day,
			isEnded: false,
			downloads: 0,
		});
		t.deepEqual(await links.find('hash of docs/ä 😀.txt'), added);
		t.is(await links.find('HASH of docs/ä 😀.txt'), undefined);
		for (const text of hostileTexts) t.is(await links.find(text), undefined);
	});

	rule('the links of somebody who is disabled are not found, and are again later', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		await links.add(linkOf(alice, 'a'));
		await users.setDisabled(alice.id, true);
		t.is(await links.find('hash of a'), undefined);
		t.is((await links.list(alice.id)).length, 1);
		await users.setDisabled(alice.id, false);
		t.truthy(await links.find('hash of a'));
	});

	rule('links go with their owner, and need one', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		await links.add(linkOf(alice, 'a'));
		await users.remove(alice.id);
		t.is(await links.find('hash of a'), undefined);
		t.deepEqual(await links.list(), []);
		await refuses(t, 'notFound', () => links.add(linkOf(alice, 'b')));
	});

	rule('links are listed by owner, the newest first', async (t, { users, links }, clock) => {
		const [alice, bob] = [
			await users.add({ username: 'alice', secret: 's' }),
			await users.add({ username: 'bob', secret: 's' }),
		];
		for (const [owner, name] of [
			[alice, 'one'],
			[bob, 'two'],
			[alice, 'three'],
		] as const) {
			clock.now += second;
			await links.add(linkOf(owner, name));
		}
		const namesOf = async (ownerId?: string) => (await links.list(ownerId)).map(({ path }) => String(path));
		t.deepEqual(await namesOf(), ['three', 'two', 'one']);
		t.deepEqual(await namesOf(alice.id), ['three', 'one']);
		t.deepEqual(await namesOf('nobody'), []);
	});

	rule('a planned path is kept beside the old one until it is settled', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const [one, two] = [await links.add(linkOf(alice, 'a/one')), await links.add(linkOf(alice, 'a/two'))];
		const pathsOf = async (hash: string) => {
			const link = await links.find(hash);
			return [link?.path, link?.nextPath].map(String);
		};
		await links.plan(
			new Map([
				[one.id, { path: parsePath('a/one'), nextPath: parsePath('b/one') }],
				[two.id, { path: parsePath('a/2'), nextPath: parsePath('b/two') }],
			]),
		);
		t.deepEqual(await pathsOf('hash of a/one'), ['a/one', 'b/one']);
		t.deepEqual(await pathsOf('hash of a/two'), ['a/2', 'b/two']);
		await links.settle(new Map([[one.id, parsePath('b/one')]]));
		t.deepEqual(await pathsOf('hash of a/one'), ['b/one', 'undefined']);
		await links.adopt(two.id, parsePath('c/two'));
		t.deepEqual(await pathsOf('hash of a/two'), ['a/2', 'b/two'], 'that is not the plan any more');
		await links.adopt(two.id, parsePath('b/two'));
		t.deepEqual(await pathsOf('hash of a/two'), ['b/two', 'undefined']);
	});

	rule('of many downloads at once each is counted', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const { id } = await links.add(linkOf(alice, 'a'));
		await Promise.all(Array.from({ length: 20 }, () => links.countDownload(id)));
		t.is((await links.find('hash of a'))?.downloads, 20);
	});

	rule('a link that has ended stays so', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const { id } = await links.add(linkOf(alice, 'a'));
		await links.end(id);
		t.true((await links.find('hash of a'))?.isEnded);
	});

	rule('links are removed by id, and only by their owner where one is named', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const { id } = await links.add(linkOf(alice, 'a'));
		t.is(await links.remove([id], 'somebody else'), 0);
		t.is(await links.remove([], alice.id), 0);
		const thousands = Array.from({ length: 70_000 }, (_, n) => String(n));
		t.is(await links.remove([...thousands, id, 'another'], alice.id), 1);
		t.is(await links.remove([id]), 0);
		t.is(await links.find('hash of a'), undefined);
	});

	rule('links that expired before a time are swept', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		await links.add(linkOf(alice, 'early', 1000));
		await links.add(linkOf(alice, 'late', 2000));
		t.is(await links.sweep(1000), 0);
		t.is(await links.sweep(2000), 1);
		t.deepEqual(
			(await links.list()).map(({ path }) => String(path)),
			['late'],
		);
	});
}

async function refuses(
	t: ExecutionContext,
	kind: 'alreadyExists' | 'notFound' | 'conflict',
	call: () => Promise<unknown>,
) {
	const error = await t.throwsAsync(call);
	t.true(isFailure(error, kind), `${error}`);
}
