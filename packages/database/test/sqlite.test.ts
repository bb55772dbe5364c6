import { AsyncLocalStorage } from 'node:async_hooks';
import { truncate, writeFile } from 'node:fs/promises';
import { repositoriesSuite } from '@stowage/conformance';
import { DatabaseError, openDatabase } from '@stowage/database';
import { isFailure, parsePath } from '@stowage/rules';
import test from 'ava';
import { KnexTimeoutError } from 'knex/lib/util/timeout.js';
import { turnsDuring } from '../../conformance/src/repositories/rules.js';
import { DatabaseDamaged } from '../src/connection/errors.js';
import { ConnectionTurns } from '../src/connection/sqlite/ConnectionTurns.js';
import { namedDiskFault, prepareFile } from '../src/connection/sqlite/sqliteFile.js';
import { userStore } from '../src/stores/accounts/users.js';
import { shareStore } from '../src/stores/files/shares.js';
import { trashStore } from '../src/stores/files/trash.js';
import { ExplainedStatements } from './ExplainedStatements.js';
import { openEmpty, placeDatabase } from './emptyDatabase.js';
import { temporaryFolder } from './temporaryFolder.js';

const statements = new ExplainedStatements();

repositoriesSuite(statements.counting(test), 'SQLite', async (clock) => {
	const folder = await temporaryFolder();
	const file = `${folder.path}/stowage.db`;
	await placeDatabase(file);
	statements.record();
	const db = await openDatabase(`sqlite:${file}`, { now: () => clock.now });
	return {
		db: statements.watched(db),
		async close() {
			await db.close();
			await folder.remove();
		},
	};
});

// What the suite does with all stores is all that they do.
test.after('no statement of any store reads a table whole that strangers or users fill', () =>
	statements.assertBounded(),
);

test('others have turns while the deleted items of a user are counted and summed', async (t) => {
	const trash = trashStore(await openEmpty(t), Date.now);
	const one = { kind: 'item', type: 'file', state: 'kept', size: { bytes: 1, entries: 1 } } as const;
	const of = { ownerId: 'ada', ownerName: 'ada', rootId: 'r', path: parsePath('a'), deletedAt: 1, deletedBy: 'ada' };
	await trash.addMissing(Array.from({ length: 6_500 }, (_, n) => ({ ...one, ...of, id: `${n}` })));
	t.true((await turnsDuring(() => trash.totals({ ownerId: 'ada' }))) >= 3);
	t.true((await turnsDuring(() => trash.totals({ rootId: 'r' }))) >= 3);
	t.true((await turnsDuring(() => trash.count('ada', 'item'))) >= 3);
});

test('a database on a network file system is refused, and on others not', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	for (const type of [0x6969, 0xff534d42, 0x00c36400])
		t.throws(() => prepareFile(`${folder.path}/stowage.db`, () => type), {
			instanceOf: DatabaseError,
			message: /lies on a network file system/,
		});
	for (const type of [0xef53, 0x65735546]) t.notThrows(() => prepareFile(`${folder.path}/stowage.db`, () => type));
});

test('a database whose disk fails is not available for now, and no mistake of the administrator', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const file = `${folder.path}/stowage.db`;
	const fails = () => {
		throw Object.assign(new Error('failed'), { code: 'EIO' });
	};
	const error = t.throws(() => prepareFile(file, fails));
	t.true(isFailure(error, 'unavailable'));
	t.is(
		error?.message,
		`The database is not available right now (EIO): ${file}, or a file that lies beside it, can't be used.`,
	);
});

test('a disk that fails is not taken for a damaged database, as SQLite does', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const damaged = new DatabaseDamaged('damaged');
	const file = `${folder.path}/file`;
	await writeFile(file, 'no database');
	t.is(namedDiskFault(damaged, file), damaged);
	// The system answers EIO where a process has no memory.
	const failing = namedDiskFault(damaged, '/proc/self/mem');
	t.true(isFailure(failing, 'unavailable'));
	t.regex((failing as Error).message, /not available right now \(EIO\)/);
});

test('a damaged database without an end is not read to it for a fault of its disk, and what is none by its beginning only', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const file = `${folder.path}/file`;
	await writeFile(file, '');
	// It takes no room, and hours to read.
	await truncate(file, 4e12);
	const damaged = new DatabaseDamaged('damaged');
	const other = new DatabaseDamaged('none', { cause: Object.assign(new Error('none'), { code: 'SQLITE_NOTADB' }) });
	const begun = performance.now();
	t.is(namedDiskFault(damaged, file, 300), damaged);
	t.true(performance.now() - begun >= 300);
	t.is(namedDiskFault(other, file, Number.POSITIVE_INFINITY), other);
});

test('who has one change to make waits for one of each other client, however many these have waiting', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const client = new AsyncLocalStorage<string>();
	await placeDatabase(`${folder.path}/stowage.db`);
	const db = await openDatabase(`sqlite:${folder.path}/stowage.db`, {
		client: () => ({ client: client.getStore() ?? '', network: client.getStore() ?? '' }),
	});
	t.teardown(() => db.close());
	const made: string[] = [];
	const add = (name: string) => db.users.add({ username: name, secret: 'none' }).then(() => made.push(name));
	const changes = [
		...client.run('ada', () => ['a1', 'a2', 'a3', 'a4', 'a5'].map(add)),
		...client.run('bob', () => ['b1', 'b2'].map(add)),
		client.run('cleo', () => add('c1')),
	];
	await Promise.all(changes);
	t.deepEqual(made, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4', 'a5']);
});

test('networks have the connection in turns, however many clients each has, and the clients of each have, too', async (t) => {
	let asking = { client: '', network: '' };
	const turns = new ConnectionTurns(() => asking);
	const had: string[] = [];
	const take = async (client: string, network: string) => {
		asking = { client, network };
		await turns.take();
		had.push(client);
	};
	await take('first', 'strangers');
	const all: Promise<void>[] = [];
	for (let n = 0; n < 4; n++) for (let count = 0; count < 2; count++) all.push(take(`eve${n}`, 'strangers'));
	for (let count = 0; count < 3; count++) all.push(take('ada', 'home'));
	all.push(take('bob', 'home'));
	for (let count = 0; count < all.length; count++) {
		turns.release();
		await new Promise(setImmediate);
	}
	await Promise.all(all);
	const expected = 'first eve0 ada eve1 bob eve2 ada eve3 ada eve0 eve1 eve2 eve3';
	t.deepEqual(had, expected.split(' '));
	turns.release();
	await take('last', 'strangers');
});

test('an account that asks from many networks has one turn in a round', async (t) => {
	let from = { client: 'first', network: 'first' };
	const turns = new ConnectionTurns(() => from);
	const had: string[] = [];
	const take = async (client: string, network: string) => {
		from = { client, network };
		await turns.take();
		had.push(client);
	};
	const all = [take('first', 'first')];
	for (const network of ['a', 'b', 'c', 'd']) all.push(take('eve', network));
	for (let count = 0; count < 2; count++) all.push(take('ada', 'home'));
	for (let count = 0; count < all.length; count++) {
		await new Promise(setImmediate);
		turns.release();
	}
	await Promise.all(all);
	t.deepEqual(had, ['first', 'eve', 'ada', 'eve', 'ada', 'eve', 'eve']);
});

test('a share of a thousand items is added by few statements: all other changes wait for it', async (t) => {
	const knex = await openEmpty(t);
	const { id: ownerId } = await userStore(knex, Date.now).add({ username: 'ada', secret: 's' });
	let inserts = 0;
	knex.on('query', ({ sql }) => {
		if (sql.startsWith('insert into `temp_links`')) inserts++;
	});
	const settings = { title: '', message: '', passwordSecret: null, expiresAt: null, isPaused: false };
	const share = { ...settings, maxDownloads: null, maxUploadBytes: null, asksName: false, mode: 'view' as const };
	const items = Array.from({ length: 1000 }, (_, n) => ({
		...{ path: parsePath(`folder/file ${n}`), itemId: `${n}`, type: 'file' as const },
	}));
	const tokens = { tokenHash: 'h', sealedToken: 's' };
	const added = await shareStore(knex, Date.now).add(
		{ ...share, ...tokens, ownerId, items },
		{ shares: 1, items: 1000 },
	);
	t.is(added.items.length, 1000);
	t.is(inserts, 5);
});

test('who waits too long for the connection gives up, and the next one has it', async (t) => {
	const turns = new ConnectionTurns(() => ({ client: 'ada', network: 'home' }), 50);
	await turns.take();
	await t.throwsAsync(turns.take(), { instanceOf: KnexTimeoutError });
	const next = turns.take();
	turns.release();
	await next;
	turns.release();
	await turns.take();
	turns.release();
});

test('a change that is refused gives the connection back', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	await placeDatabase(`${folder.path}/stowage.db`);
	const db = await openDatabase(`sqlite:${folder.path}/stowage.db`);
	t.teardown(() => db.close());
	await db.users.add({ username: 'ada', secret: 'none' });
	for (let n = 0; n < 3; n++) {
		const refused = db.users.add({ username: 'ada', secret: 'none' });
		await t.throwsAsync(refused, { message: /is taken/ });
	}
	t.is((await db.users.add({ username: 'bob', secret: 'none' }))?.username, 'bob');
});
