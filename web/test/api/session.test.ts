import { isFailure } from '@stowage/rules';
import { QueryClient } from '@tanstack/react-query';
import test, { type ExecutionContext } from 'ava';
import { changePassword, confirmTwoFactor } from '../../src/api/session/replaceSession.js';
import { sessionQuery } from '../../src/api/session/sessionQuery.js';
import { endUserSession } from '../../src/api/session/userSessions.js';
import { waitForSignIn } from '../../src/features/uploadQueue/running/waitForSignIn.js';

const replacements = [
	{
		what: 'the password is changed',
		path: '/api/password',
		refused: 'badCredentials',
		code: 'BAD_CREDENTIALS',
		replace: () => changePassword({ currentPassword: 'a', newPassword: 'b', newPasswordConfirm: 'b' }),
	},
	{
		what: 'two-factor sign-in is turned on',
		path: '/api/totp/confirm',
		refused: 'secondFactor',
		code: 'SECOND_FACTOR',
		replace: () => confirmTwoFactor('123456'),
	},
] as const;
const session = { isLoggedIn: false, username: null, settings: null, quota: null };

/** Answers the page's requests by their paths, and records them. */
function serve(answers: Readonly<Record<string, () => Response | Promise<Response>>>): string[] {
	const requests: string[] = [];
	globalThis.fetch = async (input) => {
		const path = String(input);
		requests.push(path);
		const answer = answers[path];
		if (!answer) throw new Error(`There is no answer for ${path}.`);
		return answer();
	};
	return requests;
}

function refusal(status: number, code: string): Response {
	return Response.json({ statusCode: status, code, error: 'x', message: 'No.' }, { status });
}

const checkedAfter = async (
	t: ExecutionContext,
	{ path, refused, code, replace }: (typeof replacements)[number],
	outcome: 'success' | 'refusal',
) => {
	let answer = (_response: Response) => {};
	const answered = new Promise<Response>((resolve) => {
		answer = resolve;
	});
	const requests = serve({
		[path]: () => answered,
		'/api/checkLoginStatus': () => Response.json(session),
	});
	const change = replace();
	const check = new QueryClient().fetchQuery(sessionQuery);
	await new Promise((resolve) => setImmediate(resolve));
	t.deepEqual(requests, [path]);
	if (outcome === 'success') {
		answer(Response.json({ message: 'Done.' }));
		await change;
	} else {
		answer(refusal(401, code));
		const failure = await t.throwsAsync(change);
		t.true(isFailure(failure, refused), 'it is no ended session');
	}
	t.deepEqual(await check, session);
	t.deepEqual(requests, [path, '/api/checkLoginStatus']);
};

for (const each of replacements) {
	for (const outcome of ['success', 'refusal'] as const)
		test.serial(`the session is not checked while ${each.what}, but after its ${outcome}`, checkedAfter, each, outcome);
}

test.serial(
	'the session is not checked while another page of the browser replaces it, unless that was closed',
	async (t) => {
		const stored = new Map<string, string>();
		Object.assign(globalThis, {
			localStorage: {
				getItem: (key: string) => stored.get(key) ?? null,
				setItem: (key: string, value: string) => void stored.set(key, value),
				removeItem: (key: string) => void stored.delete(key),
			},
		});
		t.teardown(() => void Reflect.deleteProperty(globalThis, 'localStorage'));
		let answer = (_response: Response) => {};
		const answered = new Promise<Response>((resolve) => {
			answer = resolve;
		});
		serve({ '/api/password': () => answered, '/api/checkLoginStatus': () => Response.json(session) });
		const change = changePassword({ currentPassword: 'a', newPassword: 'b', newPasswordConfirm: 'b' });
		const [[key, began] = ['', '']] = [...stored];
		t.true(Math.abs(Date.now() - Number(began)) < 60_000);
		answer(Response.json({ message: 'Done.' }));
		await change;
		t.is(stored.size, 0);

		// As another page has stored it.
		stored.set(key, String(Date.now()));
		const requests = serve({ '/api/checkLoginStatus': () => Response.json(session) });
		const check = new QueryClient().fetchQuery(sessionQuery);
		await new Promise((resolve) => setTimeout(resolve, 200));
		t.deepEqual(requests, []);
		stored.delete(key);
		t.deepEqual(await check, session);

		stored.set(key, String(Date.now() - 3_600_000));
		t.deepEqual(await new QueryClient().fetchQuery(sessionQuery), session);
	},
);

test.serial('who waits for a user to sign in waits for that one, and asks nothing that is known', async (t) => {
	const client = new QueryClient();
	const sessionOf = (username: string | null) => ({
		isLoggedIn: username !== null,
		username,
		settings: username === null ? null : { promptBeforeDownload: false, enablePreview: true },
		quota: null,
	});
	let username: string | null = 'ada';
	const requests = serve({ '/api/checkLoginStatus': () => Response.json(sessionOf(username)) });
	const { signal } = new AbortController();
	let waits = 0;
	const onWait = () => void waits++;
	const wait = (maxAgeMs: number, user: { username?: string } = { username: 'ada' }) =>
		waitForSignIn(client, { username: user.username, maxAgeMs, onWait, signal });
	t.false(await wait(60_000));
	t.false(await wait(60_000));
	t.is(requests.length, 1);
	username = 'bob';
	const waiting = wait(0);
	await new Promise((resolve) => setTimeout(resolve, 20));
	t.is(client.getQueryData(sessionQuery.queryKey)?.username, 'bob');
	t.false(await wait(0, {}), 'a visitor waits for anybody');
	t.is(waits, 1);
	let hasEnded = false;
	void waiting.then(() => {
		hasEnded = true;
	});
	for (const other of [null, 'bob']) {
		client.setQueryData(sessionQuery.queryKey, sessionOf(other));
		await new Promise((resolve) => setImmediate(resolve));
		t.false(hasEnded);
	}
	client.setQueryData(sessionQuery.queryKey, sessionOf('ada'));
	t.true(await waiting);
});

test.serial('a session that has ended already counts as ended', async (t) => {
	serve({ '/api/sessions/a': () => refusal(404, 'NOT_FOUND'), '/api/sessions/b': () => refusal(507, 'STORAGE_FULL') });
	await t.notThrowsAsync(endUserSession('a'));
	t.true(isFailure(await t.throwsAsync(endUserSession('b')), 'storageFull'));
});
