import type { AuthProvider } from '@stowage/plugin-api';
import { isFailure, passwordLength } from '@stowage/rules';
import type { ExecutionContext, TestFn } from 'ava';

const longest = 'p'.repeat(passwordLength.max);

/** Pairs of similar passwords, and how they differ. */
const similarPasswords: [string, string, string][] = [
	['in case', 'correct horse', 'Correct horse'],
	['in a trailing space', 'correct horse', 'correct horse '],
	['in a leading space', 'correct horse', ' correct horse'],
	['after a NUL', 'correct\0horse', 'correct\0house'],
	['by a NUL at the end', 'correct horse', 'correct horse\0'],
	['in the last character of the longest password', `${longest.slice(1)}1`, `${longest.slice(1)}2`],
	['after 72 bytes', `${'p'.repeat(72)}1`, `${'p'.repeat(72)}2`],
	['in an emoji', 'correct 🐴🐴🐴', 'correct 🐴🐴🦄'],
	['by being empty', 'correct horse', ''],
];

/** The rules of passwords, one test each. `open` creates a provider that is fast enough to be called some hundreds of times. */
export function authSuite(test: TestFn, name: string, open: () => Promise<AuthProvider>): void {
	const assertThat = (title: string, check: (t: ExecutionContext) => Promise<void>) =>
		test.serial(`${name}: ${title}`, check);

	assertThat('a password verifies against its own secret', async (t) => {
		const auth = await open();
		for (const password of ['correct horse', ' with spaces ', 'пароль', '🐴🔋📎✅', 'a\0b', longest]) {
			t.true(await auth.verify(await auth.hash(password), password), password);
		}
	});

	for (const [difference, password, other] of similarPasswords) {
		assertThat(`a password that differs ${difference} does not verify`, async (t) => {
			const auth = await open();
			t.false(await auth.verify(await auth.hash(password), other));
			t.true(await auth.verify(await auth.hash(password), password));
		});
	}

	assertThat('a secret does not contain the password, and two secrets of one password differ', async (t) => {
		const auth = await open();
		const secrets = await Promise.all([1, 2, 3].map(() => auth.hash('correct horse')));
		t.is(new Set(secrets).size, 3);
		for (const secret of secrets) {
			t.false(secret.includes('correct'));
			t.false(secret.includes(Buffer.from('correct horse').toString('base64').slice(0, 12)));
		}
	});

	assertThat('no password verifies without a secret', async (t) => {
		const auth = await open();
		for (const password of ['', 'correct horse', 'undefined']) t.false(await auth.verify(undefined, password));
	});

	assertThat('no password verifies against an invalid secret', async (t) => {
		const auth = await open();
		const secret = await auth.hash('correct horse');
		for (const text of [
			'',
			'correct horse',
			'*',
			secret.slice(0, -10),
			secret.slice(0, 10),
			`x${secret}`,
			'$argon2id$',
		]) {
			t.false(await auth.verify(text, 'correct horse'), text);
		}
	});

	assertThat(
		'a password over the length limit is refused and does not verify, with less work than one hash',
		async (t) => {
			const auth = await open();
			const secret = await auth.hash(longest);
			const error = await t.throwsAsync(() => auth.hash(`${longest}p`));
			t.true(isFailure(error, 'invalid'), String(error));
			t.false(await auth.verify(secret, `${longest}p`));
			const huge = 'p'.repeat(1_000_000);
			const refusing: number[] = [];
			const hashing: number[] = [];
			for (let round = 0; round < 9; round++) {
				hashing.push(await workOf(() => auth.verify(secret, 'wrong horse')));
				refusing.push(
					await workOf(async () => {
						t.false(await auth.verify(secret, huge));
						t.false(await auth.verify(undefined, huge));
						await t.throwsAsync(() => auth.hash(huge));
					}),
				);
			}
			const [refusal, hash] = [median(refusing), median(hashing)];
			t.true(refusal < hash, `${refusal} ms of work, where one hash takes ${hash} ms`);
		},
	);

	assertThat('a new secret is not outdated', async (t) => {
		const auth = await open();
		t.false(auth.needsRehash(await auth.hash('correct horse')));
	});

	assertThat('verifying takes as much work without a secret as with one', async (t) => {
		const auth = await open();
		const secret = await auth.hash('correct horse');
		const known: number[] = [];
		const unknown: number[] = [];
		for (let round = 0; round < 60; round++) {
			known.push(await workOf(() => auth.verify(secret, 'wrong horse')));
			unknown.push(await workOf(() => auth.verify(undefined, 'wrong horse')));
		}
		const ratio = median(known) / median(unknown);
		t.true(ratio > 0.8 && ratio < 1.25, `known : unknown = ${ratio}`);
	});

	assertThat(
		'many concurrent verifications succeed or are refused with a time to retry, and the main thread stays free',
		async (t) => {
			const auth = await open();
			const secret = await auth.hash('correct horse');
			const hash = await workOf(() => auth.verify(secret, 'wrong horse'));
			const rounds = countRounds();
			const results = await Promise.allSettled(
				Array.from({ length: 500 }, (_, index) => auth.verify(index % 2 ? secret : undefined, 'correct horse')),
			);
			const { count, maxWork } = rounds.stop();
			for (const [index, result] of results.entries()) {
				if (result.status === 'fulfilled') t.is(result.value, index % 2 === 1);
				else t.true(isFailure(result.reason) && (result.reason.retryAfter ?? 0) > 0, String(result.reason));
			}
			const hashes = results.filter((result) => result.status === 'fulfilled').length;
			t.true(hashes > 0);
			// With hashes on the main thread there would be a round or two of the event loop between two of them.
			t.true(count > 10 * hashes, `${count} rounds in ${hashes} hashes`);
			t.true(maxWork < 40 * hash, `${maxWork} ms of work in one round, where one hash takes ${hash} ms`);
			t.true(await auth.verify(secret, 'correct horse'));
		},
	);
}

/** The processor time of some work, in milliseconds: unlike wall-clock time it does not depend on how busy the machine is. */
async function workOf(work: () => Promise<unknown>): Promise<number> {
	const before = process.cpuUsage();
	await work();
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1000;
}

function median(values: number[]): number {
	return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Counts the rounds of the event loop, and measures the most processor time between two of them. */
function countRounds(): { stop(): { count: number; maxWork: number } } {
	let count = 0;
	let maxWork = 0;
	let last = process.cpuUsage();
	let isOver = false;
	const check = () => {
		const { user, system } = process.cpuUsage(last);
		maxWork = Math.max(maxWork, (user + system) / 1000);
		last = process.cpuUsage();
		count++;
	};
	const round = () => {
		if (isOver) return;
		check();
		setImmediate(round);
	};
	round();
	return {
		stop() {
			isOver = true;
			check();
			return { count, maxWork };
		},
	};
}
