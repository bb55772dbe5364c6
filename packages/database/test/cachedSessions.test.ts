import { openDatabase } from '@stowage/database';
import type { SessionStore } from '@stowage/plugin-api';
import test, { type ExecutionContext } from 'ava';
import { sqliteChanges } from '../src/connection/sqlite/sqliteChanges.js';
import { cachedSessions } from '../src/stores/accounts/cachedSessions.js';
import { temporaryFolder } from './temporaryFolder.js';

const dayMs = 24 * 60 * 60_000;
const start = Date.UTC(2026, 0, 1);

async function setUp(t: ExecutionContext) {
	const folder = await temporaryFolder();
	t.teardown(() => folder.remove());
	const url = `sqlite:${folder.path}/stowage.db`;
	const [ours, theirs] = await Promise.all(
		[0, 1].map(async () => {
			const database = await openDatabase(url, { now: () => start });
			t.teardown(() => database.close());
			return database;
		}),
	);
	if (ours === undefined || theirs === undefined) throw new Error('Two databases were opened.');
	const changes = sqliteChanges(`${folder.path}/stowage.db`);
	t.teardown(() => changes.close());
	const user = await ours.users.add({ username: 'ada', secret: 'x' });
	await ours.sessions.add('hash', user);
	return { ours, theirs, changes, user };
}

test('a session is looked up once for as long as nothing changes', async (t) => {
	const { ours, changes } = await setUp(t);
	let lookups = 0;
	const counted: SessionStore = {
		...ours.sessions,
		find(idHash, time) {
			lookups++;
			return ours.sessions.find(idHash, time);
		},
	};
	const sessions = cachedSessions(counted, changes);
	for (let n = 0; n < 5; n++) t.is((await sessions.find('hash', start))?.user.username, 'ada');
	t.is(lookups, 1);
	t.is(await sessions.find('another', start), undefined);
	t.is(await sessions.find('another', start), undefined);
	t.is(lookups, 3, 'who is not there may come at any time');
	await ours.homes.set('any', 'other row');
	t.is((await sessions.find('hash', start))?.user.username, 'ada');
	t.is(lookups, 4);
});

test('what anybody changes is known at once', async (t) => {
	const { ours, theirs, user } = await setUp(t);
	t.is((await ours.sessions.find('hash', start))?.user.username, 'ada');
	await theirs.users.setDisabled(user.id, true);
	t.is(await ours.sessions.find('hash', start), undefined, 'another process disabled the account');
	await ours.users.setDisabled(user.id, false);
	const { generation } = (await theirs.users.get(user.id)) ?? user;
	await ours.sessions.add('hash', { ...user, generation });
	t.is((await theirs.sessions.find('hash', start))?.user.username, 'ada');
	await theirs.users.setSecret(user.id, 'y', generation);
	t.is(await ours.sessions.find('hash', start), undefined, 'another process changed the password');
	await ours.sessions.add('hash', { ...user, generation: generation + 1 });
	t.is((await theirs.sessions.find('hash', start))?.user.username, 'ada');
	t.is((await ours.sessions.find('hash', start))?.user.username, 'ada');
	await ours.sessions.remove('hash');
	t.is(await ours.sessions.find('hash', start), undefined, 'this process ended the session');
	t.is(await theirs.sessions.find('hash', start), undefined);
});

test('a session that is remembered ends with its time', async (t) => {
	const { ours } = await setUp(t);
	t.is((await ours.sessions.find('hash', start))?.user.username, 'ada');
	t.is((await ours.sessions.find('hash', start + 7 * dayMs - 1))?.user.username, 'ada');
	t.is(await ours.sessions.find('hash', start + 7 * dayMs), undefined);
});

test('what was changed while the database was asked is not taken for known', async (t) => {
	const { ours, changes } = await setUp(t);
	let isFirst = true;
	const sessions = cachedSessions(
		{
			...ours.sessions,
			async find(idHash, time) {
				const found = await ours.sessions.find(idHash, time);
				if (isFirst) await ours.sessions.remove('hash');
				isFirst = false;
				return found;
			},
		},
		changes,
	);
	t.is((await sessions.find('hash', start))?.user.username, 'ada');
	t.is(await sessions.find('hash', start), undefined);
});

test('where changes can’t be told every session is looked up', async (t) => {
	const { ours, theirs, changes } = await setUp(t);
	const sessions = cachedSessions(ours.sessions, changes);
	t.is((await sessions.find('hash', start))?.user.username, 'ada');
	changes.close();
	t.is(changes.version(), undefined);
	await theirs.sessions.remove('hash');
	t.is(await sessions.find('hash', start), undefined);
});
