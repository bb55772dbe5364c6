import { authSuite } from '@stowage/conformance';
import test from 'ava';
import { argon2Provider } from '../src/argon2.js';

const quick = { memoryKiB: 8192, iterations: 1, parallelism: 1 };

authSuite(test, 'argon2id', () => argon2Provider(quick));

test('a secret made with less of anything is outdated, one made with more is not', async (t) => {
	const auth = await argon2Provider({ memoryKiB: 8192, iterations: 2, parallelism: 2 });
	const made = (memory: number, iterations: number, lanes: number) =>
		`$argon2id$v=19$m=${memory},t=${iterations},p=${lanes}$c29tZXNhbHRzb21lc2FsdA$TJTcoL2LmcX0pyhSz4ZNCgPIqZfCSIchxnEtFAyAJ0s`;
	t.false(auth.isOutdated(made(8192, 2, 2)));
	t.false(auth.isOutdated(made(65_536, 3, 4)));
	t.true(auth.isOutdated(made(4096, 2, 2)));
	t.true(auth.isOutdated(made(8192, 1, 2)));
	t.true(auth.isOutdated(made(8192, 2, 1)));
	t.true(auth.isOutdated('*'));
});

test('a secret of other parameters still fits, so that raising them locks nobody out', async (t) => {
	const before = await argon2Provider(quick);
	const after = await argon2Provider({ ...quick, iterations: 2 });
	const secret = await before.protect('correct horse');
	t.true(await after.verify(secret, 'correct horse'));
	t.false(await after.verify(secret, 'wrong horse'));
});

test('letters that can be written in two ways are one', async (t) => {
	const auth = await argon2Provider(quick);
	t.true(await auth.verify(await auth.protect('cafe\u0301 noir'), 'caf\u00e9 noir'));
});

test('the secret names its algorithm and parameters', async (t) => {
	const auth = await argon2Provider(quick);
	t.regex(await auth.protect('correct horse'), /^\$argon2id\$v=19\$m=8192,t=1,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
});
