import { DatabaseError } from '@stowage/database';
import test from 'ava';
import { parseDatabaseUrl } from '../src/connection/target.js';

test('a sqlite: URL contains a path', (t) => {
	t.deepEqual(parseDatabaseUrl('sqlite:/srv/my data/stowage%20.db'), {
		kind: 'sqlite',
		path: '/srv/my data/stowage%20.db',
	});
	t.deepEqual(parseDatabaseUrl('sqlite:./data/stowage.db'), { kind: 'sqlite', path: './data/stowage.db' });
});

test('a mysql: URL contains an address, a user and the name of a database', (t) => {
	t.deepEqual(parseDatabaseUrl('mysql://sto:p%40%3A%2F%25@db.example:3307/files'), {
		kind: 'mysql',
		address: {
			host: 'db.example',
			port: 3307,
			socketPath: undefined,
			user: 'sto',
			password: 'p@:/%',
			database: 'files',
		},
	});
	t.deepEqual(parseDatabaseUrl('mysql://sto@[::1]/files?socket=%2Frun%2Fmysqld%2Fmysqld.sock'), {
		kind: 'mysql',
		address: {
			host: '::1',
			port: 3306,
			socketPath: '/run/mysqld/mysqld.sock',
			user: 'sto',
			password: '',
			database: 'files',
		},
	});
});

for (const url of [
	'',
	'stowage.db',
	'sqlite',
	'sqlite:',
	'sqlite::memory:',
	'sqlite:file:stowage.db?mode=memory',
	'sqlite:mysql://user:hunter2@host/name',
	'postgres://user:hunter2@host/name',
	'mysql://user:hunter2@host',
	'mysql://user:hunter2@host/',
	'mysql://host/hunter2',
	'mysql://user:hunter2@host:port/name',
	'mysql://user:hunter2%@host/name',
	'mysql://user:hunter2@host/name?multipleStatements=true',
]) {
	test(`"${url}" is refused, and the error does not contain the password`, (t) => {
		const error = t.throws(() => parseDatabaseUrl(url), { instanceOf: DatabaseError });
		t.false(error?.message.includes('hunter2'));
	});
}

test('a password that one of its own characters cuts off is refused with the character and its code', (t) => {
	for (const [password, character, code] of [
		['hun/ter2', '/', '%2F'],
		['1/ter2', '/', '%2F'],
		['hun@host/ter2', '/', '%2F'],
		['hun?ter2', '?', '%3F'],
		['hun#ter2', '#', '%23'],
	] as const) {
		const error = t.throws(() => parseDatabaseUrl(`mysql://me:${password}@db/stowage`), { instanceOf: DatabaseError });
		t.true(error?.message.includes(`percent-encoded: write ${code} for ${character},`), error?.message);
		t.false(error?.message.includes('ter2'));
	}
	t.throws(() => parseDatabaseUrl('mysql://me:100%@db/stowage'), { message: /write %25 for it/ });
	for (const password of ['p@ss', 'p:ss', ':@:@'])
		t.like(parseDatabaseUrl(`mysql://me:${password}@db/stowage`), { address: { host: 'db', password } });
	t.notThrows(() => parseDatabaseUrl('mysql://me:pw@db/stowage?socket=/run/@x'));
});
