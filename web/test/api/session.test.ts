import { isFailure } from '@stowage/rules';
import { QueryClient } from '@tanstack/react-query';
import test from 'ava';
import { changePassword } from '../../src/api/session/changePassword.js';
import { sessionQuery } from '../../src/api/session/sessionQuery.js';
import { endUserSession } from '../../src/api/session/userSessions.js';

const payload = { currentPassword: 'a', newPassword: 'b', newPasswordConfirm: 'b' };
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

for (const outcome of ['success', 'refusal'] as const) {
	test.serial(`the session is not checked while the password is changed, but after its ${outcome}`, async (t) => {
		let answer = (_response: Response) => {};
		const answered = new Promise<Response>((resolve) => {
			answer = resolve;
		});
		const requests = serve({
			'/api/password': () => answered,
			'/api/checkLoginStatus': () => Response.json(session),
		});
		const change = changePassword(payload);
		const check = new QueryClient().fetchQuery(sessionQuery);
		await new Promise((resolve) => setImmediate(resolve));
		t.deepEqual(requests, ['/api/password']);
		if (outcome === 'success') {
			answer(Response.json({ message: 'Your password was changed.' }));
			await change;
		} else {
			answer(refusal(401, 'BAD_CREDENTIALS'));
			const failure = await t.throwsAsync(change);
			t.true(isFailure(failure, 'badCredentials'), 'it is no ended session');
		}
		t.deepEqual(await check, session);
		t.deepEqual(requests, ['/api/password', '/api/checkLoginStatus']);
	});
}

test.serial('a session that has ended already counts as ended', async (t) => {
	serve({ '/api/sessions/a': () => refusal(404, 'NOT_FOUND'), '/api/sessions/b': () => refusal(507, 'STORAGE_FULL') });
	await t.notThrowsAsync(endUserSession('a'));
	t.true(isFailure(await t.throwsAsync(endUserSession('b')), 'storageFull'));
});
