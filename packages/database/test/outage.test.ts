import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { openDatabase } from '@stowage/database';
import { isFailure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import mysql from 'mysql2/promise';
import { type MariaDb, startMariadb } from './mariadb.js';

let mariadb: MariaDb;

test.before(async () => {
	mariadb = await startMariadb();
});

test.after.always(() => mariadb?.close());

for (const [how, end] of [
	['stopped', () => mariadb.stop()],
	['killed', () => mariadb.kill()],
] as const) {
	for (const way of ['TCP', 'a socket']) {
		test.serial(
			`calls through ${way} to a server that was ${how} fail as unavailable, and work again after its start`,
			async (t) => {
				const url = await mariadb.createDatabase({ socket: way === 'a socket' });
				const db = await openDatabase(url);
				t.teardown(db.close);
				await db.users.add({ username: 'alice', secret: 's' });
				await end();
				await unavailable(t, () => db.ping());
				await unavailable(t, () => db.users.find('alice'));
				await unavailable(t, () => db.users.add({ username: 'bob', secret: 's' }));
				await unavailable(t, () => db.limits.hit('key', 1000, 1));
				await unavailable(t, () => openDatabase(url));
				await mariadb.start();
				await db.ping();
				t.truthy(await db.users.find('alice'));
				await db.users.add({ username: 'bob', secret: 's' });
				t.is((await db.users.list()).length, 2);
			},
		);
	}
}

test.serial(
	'a server that has no connection left makes calls wait for one, and refuses them after some seconds',
	async (t) => {
		const url = await mariadb.createDatabase();
		const db = await openDatabase(url);
		t.teardown(db.close);
		await mariadb.run(`alter user stowage@'%' with max_user_connections 2`);
		t.teardown(() => mariadb.run(`alter user stowage@'%' with max_user_connections 0`));
		const names = Array.from({ length: 30 }, (_, n) => `user${n}`);
		await Promise.all(names.map((username) => db.users.add({ username, secret: 's' })));
		t.is((await db.users.list()).length, names.length);
		await unavailable(t, () => openDatabase(url));
	},
);

test.serial(
	'every acknowledged write survives a kill of the server under load, and other writes fail as unavailable',
	async (t) => {
		const db = await openDatabase(await mariadb.createDatabase());
		t.teardown(db.close);
		const acknowledged: string[] = [];
		let isOver = false;
		const writer = async (number: number) => {
			for (let count = 0; !isOver; count++) {
				const username = `user${number}-${count}`;
				try {
					await db.users.add({ username, secret: 's' });
					acknowledged.push(username);
				} catch (error) {
					t.true(isFailure(error, 'unavailable'), String(error));
				}
			}
		};
		const writers = [1, 2, 3, 4].map(writer);
		while (acknowledged.length < 100) await db.ping();
		await mariadb.kill();
		await mariadb.start();
		await db.ping();
		isOver = true;
		await Promise.all(writers);
		const names = new Set((await db.users.list()).map((user) => user.username));
		t.deepEqual(
			acknowledged.filter((name) => !names.has(name)),
			[],
		);
	},
);

test.serial('a call to a server that does not answer fails as unavailable after a timeout', async (t) => {
	const db = await openDatabase(await mariadb.createDatabase());
	t.teardown(db.close);
	await db.users.add({ username: 'alice', secret: 's' });
	await mariadb.freeze();
	try {
		await unavailable(t, () => db.users.find('alice'));
	} finally {
		mariadb.thaw();
	}
	t.truthy(await db.users.find('alice'));
});

test.serial('a server can be asked whether it works while all other connections wait', async (t) => {
	const url = await mariadb.createDatabase();
	const db = await openDatabase(url);
	t.teardown(db.close);
	const locking = await mysql.createConnection({ uri: url });
	await locking.query('lock tables users write');
	const waiting = Array.from({ length: 12 }, () => db.users.find('alice'));
	const first = await Promise.race([...waiting, db.ping().then(() => 'it works')]);
	await locking.end();
	t.is(first, 'it works');
	await Promise.all(waiting);
});

test.serial('a process that stood still itself takes no server for dead that has answered meanwhile', async (t) => {
	const url = await mariadb.createDatabase();
	const db = await openDatabase(url);
	t.teardown(db.close);
	const standStill = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
	const found = db.users.find('alice');
	// The statement is on its way.
	await new Promise(setImmediate);
	standStill(10_500);
	t.is(await found, undefined);
	const opening = openDatabase(url);
	await new Promise(setImmediate);
	standStill(5500);
	await (await opening).close();
});

test.serial('a connection that is broken off before it is established is asked for again', async (t) => {
	const url = new URL(await mariadb.createDatabase());
	let broken = 0;
	const front = createServer((socket) => {
		socket.on('error', () => {});
		if (broken++ < 2) return void socket.resetAndDestroy();
		const server = connect(Number(url.port), url.hostname).on('error', () => socket.destroy());
		socket.pipe(server).pipe(socket);
	}).listen(0, '127.0.0.1');
	await once(front, 'listening');
	t.teardown(() => void front.close());
	const there = Object.assign(new URL(url), { host: `127.0.0.1:${(front.address() as AddressInfo).port}` });
	const db = await openDatabase(there.href);
	t.teardown(db.close);
	await db.ping();
	t.true(broken > 2);
});

async function unavailable(t: ExecutionContext, call: () => Promise<unknown>): Promise<void> {
	const error = await t.throwsAsync(call);
	t.true(isFailure(error, 'unavailable'), String(error));
}
