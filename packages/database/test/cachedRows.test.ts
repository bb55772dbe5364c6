import { openDatabase } from '@stowage/database';
import type { SessionStore, UserStore } from '@stowage/plugin-api';
import test, { type ExecutionContext } from 'ava';
import { sqliteChanges } from '../src/connection/sqlite/sqliteChanges.js';
import { cachedSessions } from '../src/stores/accounts/sessions.js';
import { cachedUsers } from '../src/stores/accounts/users.js';
import { temporaryFolder } from './temporaryFolder.js';

const dayMs = 24 * 60 * 60_000;
const start = Date.UTC(2026, 0, 1);

async function setUp(t: ExecutionContext) {
	const folder = await temporaryFolder();
	t.teardown(() => folder.remove());
	const url = `sqlite:${folder.path}/stowage.db`;
	const [db, other] = await Promise.all(
		[0, 1].map(async () => {
			const database = await openDatabase(url, { now: () => start });
			t.teardown(() => database.close());
			return database;
		}),
	);
	if (db === undefined || other === undefined) throw new Error('Two databases were opened.');
	const changes = sqliteChanges(`${folder.path}/stowage.db`);
	t.teardown(() => changes.close());
	const user = await db.users.add({ username: 'ada', secret: 'x' });
	await db.sessions.add('hash', user);
	return { db, other, changes, user };
}

test('a session is read once until the database changes, and an unknown one each time', async (t) => {
	const { db, changes } = await setUp(t);
	let lookups = 0;
	const counted: SessionStore = {
		...db.sessions,
		find(idHash, time) {
			lookups++;
			return db.sessions.find(idHash, time);
		},
	};
	const sessions = cachedSessions(counted, changes);
	for (let n = 0; n < 5; n++) t.is((await sessions.find('hash', start))?.user.username, 'ada');
	t.is(lookups, 1);
	t.is(await sessions.find('another', start), undefined);
	t.is(await sessions.find('another', start), undefined);
	t.is(lookups, 3, 'an unknown session is not cached');
	await db.homes.set('any', 'other row');
	t.is((await sessions.find('hash', start))?.user.username, 'ada');
	t.is(lookups, 4);
});

test('a change of an account or a session by any process is seen by the next lookup', async (t) => {
	const { db, other, user } = await setUp(t);
	t.is((await db.sessions.find('hash', start))?.user.username, 'ada');
	await other.users.setDisabled(user.id, true);
	t.is(await db.sessions.find('hash', start), undefined, 'another process disabled the account');
	await db.users.setDisabled(user.id, false);
	const { generation } = (await other.users.get(user.id)) ?? user;
	await db.sessions.add('hash', { ...user, generation });
	t.is((await other.sessions.find('hash', start))?.user.username, 'ada');
	await other.users.setSecret(user.id, 'y', generation);
	t.is(await db.sessions.find('hash', start), undefined, 'another process changed the password');
	await db.sessions.add('hash', { ...user, generation: generation + 1 });
	t.is((await other.sessions.find('hash', start))?.user.username, 'ada');
	t.is((await db.sessions.find('hash', start))?.user.username, 'ada');
	await db.sessions.remove('hash');
	t.is(await db.sessions.find('hash', start), undefined, 'this process ended the session');
	t.is(await other.sessions.find('hash', start), undefined);
});

test('an account is read once until the database changes, by whatever process', async (t) => {
	const { db, other, changes, user } = await setUp(t);
	let lookups = 0;
	const counted: UserStore = {
		...db.users,
		get(id) {
			lookups++;
			return db.users.get(id);
		},
	};
	const users = cachedUsers(counted, changes);
	for (let n = 0; n < 5; n++) t.is((await users.get(user.id))?.username, 'ada');
	t.is(lookups, 1);
	await other.users.setDisabled(user.id, true);
	t.is((await users.get(user.id))?.isDisabled, true, 'another process disabled the account');
	t.is(lookups, 2);
	await other.users.remove(user.id);
	t.is(await users.get(user.id), undefined);
});

test('a cached session expires', async (t) => {
	const { db } = await setUp(t);
	t.is((await db.sessions.find('hash', start))?.user.username, 'ada');
	t.is((await db.sessions.find('hash', start + 7 * dayMs - 1))?.user.username, 'ada');
	t.is(await db.sessions.find('hash', start + 7 * dayMs), undefined);
});

test('a session that is removed during a lookup is not cached', async (t) => {
	const { db, changes } = await setUp(t);
	let isFirst = true;
	const sessions = cachedSessions(
		{
			...db.sessions,
			async find(idHash, time) {
				const found = await db.sessions.find(idHash, time);
				if (isFirst) await db.sessions.remove('hash');
				isFirst = false;
				return found;
			},
		},
		changes,
	);
	t.is((await sessions.find('hash', start))?.user.username, 'ada');
	t.is(await sessions.find('hash', start), undefined);
});

test('every lookup reads the database when changes cannot be detected', async (t) => {
	const { db, other, changes } = await setUp(t);
	const sessions = cachedSessions(db.sessions, changes);
	t.is((await sessions.find('hash', start))?.user.username, 'ada');
	changes.close();
	t.is(changes.version(), undefined);
	await other.sessions.remove('hash');
	t.is(await sessions.find('hash', start), undefined);
});
