import { parseOptions, verify } from '@node-rs/argon2';
import { authSuite } from '@stowage/conformance';
import { isFailure } from '@stowage/rules';
import test from 'ava';
import { argon2Provider, dummySecret } from '../src/argon2.js';

const quick = { memoryKiB: 8192, iterations: 1, parallelism: 1 };

authSuite(test, 'argon2id', async () => argon2Provider(quick));

test('whoever would wait behind 64 others is refused at once, with a time to retry', async (t) => {
	const auth = argon2Provider(quick);
	const all = await Promise.allSettled(Array.from({ length: 67 }, () => auth.hash('correct horse')));
	const reasons = all.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
	t.true(reasons.every((reason) => isFailure(reason, 'unavailable') && reason.retryAfter === 2));
	t.is(reasons.length, 1);
});

test('a secret of weaker parameters is outdated, one of stronger parameters is not', async (t) => {
	const auth = argon2Provider({ memoryKiB: 8192, iterations: 2, parallelism: 2 });
	const made = (memory: number, iterations: number, lanes: number) =>
		`$argon2id$v=19$m=${memory},t=${iterations},p=${lanes}$c29tZXNhbHRzb21lc2FsdA$TJTcoL2LmcX0pyhSz4ZNCgPIqZfCSIchxnEtFAyAJ0s`;
	t.false(auth.needsRehash(made(8192, 2, 2)));
	t.false(auth.needsRehash(made(65_536, 3, 4)));
	t.true(auth.needsRehash(made(4096, 2, 2)));
	t.true(auth.needsRehash(made(8192, 1, 2)));
	t.true(auth.needsRehash(made(8192, 2, 1)));
	t.true(auth.needsRehash('*'));
});

test('a secret of other parameters still verifies', async (t) => {
	const before = argon2Provider(quick);
	const after = argon2Provider({ ...quick, iterations: 2 });
	const secret = await before.hash('correct horse');
	t.true(await after.verify(secret, 'correct horse'));
	t.false(await after.verify(secret, 'wrong horse'));
});

test('composed and decomposed letters in a password are the same', async (t) => {
	const auth = argon2Provider(quick);
	t.true(await auth.verify(await auth.hash('cafe\u0301 noir'), 'caf\u00e9 noir'));
});

test('the secret for unknown users has the same parameters, and no password verifies against it', async (t) => {
	const secret = dummySecret(quick);
	t.deepEqual(parseOptions(secret), parseOptions(await argon2Provider(quick).hash('correct horse')));
	t.false(await verify(secret, ''));
	t.not(dummySecret(quick), secret);
});

test('a secret contains its algorithm and parameters', async (t) => {
	const auth = argon2Provider(quick);
	t.regex(await auth.hash('correct horse'), /^\$argon2id\$v=19\$m=8192,t=1,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
});
