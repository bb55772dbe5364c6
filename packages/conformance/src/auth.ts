import type { AuthProvider } from '@stowage/plugin-api';
import { isFailure, passwordLength } from '@stowage/rules';
import type { ExecutionContext, TestFn } from 'ava';

const longest = 'p'.repeat(passwordLength.max);

/** How two passwords differ that must not be taken for each other. */
const neighbours: [string, string, string][] = [
	['in case', 'correct horse', 'Correct horse'],
	['in a trailing space', 'correct horse', 'correct horse '],
	['in a leading space', 'correct horse', ' correct horse'],
	['after a NUL', 'correct\0horse', 'correct\0house'],
	['by a NUL at the end', 'correct horse', 'correct horse\0'],
	['in the last character of the longest', `${longest.slice(1)}1`, `${longest.slice(1)}2`],
	['after 72 bytes', `${'p'.repeat(72)}1`, `${'p'.repeat(72)}2`],
	['in an emoji', 'correct 🐴🐴🐴', 'correct 🐴🐴🦄'],
	['by being empty', 'correct horse', ''],
];

/** One test a rule of passwords. `open` makes a provider that is quick enough to be asked some hundreds of times. */
export function authSuite(test: TestFn, name: string, open: () => Promise<AuthProvider>): void {
	const rule = (title: string, check: (t: ExecutionContext) => Promise<void>) =>
		test.serial(`${name}: ${title}`, check);

	rule('a password fits its own secret', async (t) => {
		const auth = await open();
		for (const password of ['correct horse', ' with spaces ', 'пароль', '🐴🔋📎✅', 'a\0b', longest]) {
			t.true(await auth.verify(await auth.protect(password), password), password);
		}
	});

	for (const [difference, password, other] of neighbours) {
		rule(`a password that differs ${difference} does not fit`, async (t) => {
			const auth = await open();
			t.false(await auth.verify(await auth.protect(password), other));
			t.true(await auth.verify(await auth.protect(password), password));
		});
	}

	rule('a secret does not show the password, nor that two people chose the same', async (t) => {
		const auth = await open();
		const secrets = await Promise.all([1, 2, 3].map(() => auth.protect('correct horse')));
		t.is(new Set(secrets).size, 3);
		for (const secret of secrets) {
			t.false(secret.includes('correct'));
			t.false(secret.includes(Buffer.from('correct horse').toString('base64').slice(0, 12)));
		}
	});

	rule('without a secret no password fits', async (t) => {
		const auth = await open();
		for (const password of ['', 'correct horse', 'undefined']) t.false(await auth.verify(undefined, password));
	});

	rule('no password fits a text that is no secret', async (t) => {
		const auth = await open();
		const secret = await auth.protect('correct horse');
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

	rule('a password over the limit is refused, and fits nothing, at once', async (t) => {
		const auth = await open();
		const secret = await auth.protect(longest);
		const error = await t.throwsAsync(() => auth.protect(`${longest}p`));
		t.true(isFailure(error, 'invalid'), String(error));
		t.false(await auth.verify(secret, `${longest}p`));
		const huge = 'p'.repeat(1_000_000);
		const begin = performance.now();
		t.false(await auth.verify(secret, huge));
		t.false(await auth.verify(undefined, huge));
		await t.throwsAsync(() => auth.protect(huge));
		const milliseconds = performance.now() - begin;
		t.true(milliseconds < 50, `${milliseconds} ms`);
	});

	rule('a secret of today is not outdated', async (t) => {
		const auth = await open();
		t.false(auth.isOutdated(await auth.protect('correct horse')));
	});

	rule('time does not tell whether there is such a user', async (t) => {
		const auth = await open();
		const secret = await auth.protect('correct horse');
		// A busy machine may disturb a sample, but not three in a row. A provider that skips the work differs by far more in each.
		const ratios: number[] = [];
		do ratios.push(await timeRatio(auth, secret));
		while (!isNearOne(ratios.at(-1)) && ratios.length < 3);
		t.true(isNearOne(ratios.at(-1)), `known : unknown = ${ratios.join(', ')}`);
	});

	rule('many at once are answered or told to come back, and the main thread stays free', async (t) => {
		const auth = await open();
		const secret = await auth.protect('correct horse');
		const lag = longestLag();
		const results = await Promise.allSettled(
			Array.from({ length: 500 }, (_, index) => auth.verify(index % 2 ? secret : undefined, 'correct horse')),
		);
		const milliseconds = lag.stop();
		t.true(milliseconds < 200, `${milliseconds} ms`);
		for (const [index, result] of results.entries()) {
			if (result.status === 'fulfilled') t.is(result.value, index % 2 === 1);
			else t.true(isFailure(result.reason) && (result.reason.retryAfter ?? 0) > 0, String(result.reason));
		}
		t.true(results.some((result) => result.status === 'fulfilled'));
		t.true(await auth.verify(secret, 'correct horse'));
	});
}

/** The median time of a wrong password for a known user, over the one for an unknown user, both asked in turn. */
async function timeRatio(auth: AuthProvider, secret: string): Promise<number> {
	const known: number[] = [];
	const unknown: number[] = [];
	for (let round = 0; round < 30; round++) {
		known.push(await timeOf(() => auth.verify(secret, 'wrong horse')));
		unknown.push(await timeOf(() => auth.verify(undefined, 'wrong horse')));
	}
	return median(known) / median(unknown);
}

function isNearOne(ratio = 0): boolean {
	return ratio > 0.8 && ratio < 1.25;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
	const begin = performance.now();
	await work();
	return performance.now() - begin;
}

function median(values: number[]): number {
	return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Measures by how much the main thread was late at worst. */
function longestLag(): { stop(): number } {
	let last = performance.now();
	let longest = 0;
	const check = () => {
		const now = performance.now();
		longest = Math.max(longest, now - last - 10);
		last = now;
	};
	const timer = setInterval(check, 10);
	return {
		stop() {
			clearInterval(timer);
			check();
			return Math.round(longest);
		},
	};
}
