import { browse, checkLoginStatus, download, lookAtShare, removeShareUpload } from '@stowage/contract';
import { MutationObserver, onlineManager } from '@tanstack/react-query';
import test from 'ava';
import { endpointUrl, failureFrom, NetworkFailure, readResult, UnreadableAnswer } from '../src/api/client/client.js';
import { queryKeys } from '../src/api/queryKeys.js';
import { sessionQuery } from '../src/api/session/sessionQuery.js';
import { createQueryClient } from '../src/app/queryClient.js';
import { isComposing } from '../src/ui/keyboard/composing.js';
import { menuTarget } from '../src/ui/keyboard/menuKeys.js';
import { autoHides, notificationsReducer, type ShownNotice } from '../src/ui/notifications/notifications.js';

test('a URL of an endpoint has the path encoded once and the query', (t) => {
	t.is(endpointUrl(checkLoginStatus), '/api/checkLoginStatus');
	t.is(
		endpointUrl(browse, { query: { type: 'private', directory: 'a b/c&d' } }),
		'/api/browse?type=private&directory=a+b%2Fc%26d',
	);
	t.is(
		endpointUrl(download, { params: { path: '100%/a?b #1.txt' }, query: { owner: '' } }),
		'/api/download/100%25/a%3Fb%20%231.txt?owner=',
	);
});

test('an error response becomes the failure that the server has thrown', (t) => {
	const body = { statusCode: 409, code: 'ALREADY_EXISTS', error: 'Taken', message: 'Taken' };
	const failure = failureFrom(409, body, null);
	t.is(failure.kind, 'alreadyExists');
	t.is(failure.message, 'Taken');
});

test("a proxy's error response is reported with its status", (t) => {
	t.is(failureFrom(502, '<html>', null).message, 'HTTP error! status: 502');
	t.is(failureFrom(502, undefined, null).kind, 'unavailable');
	t.is(failureFrom(413, undefined, null).kind, 'tooLarge');
	t.is(failureFrom(429, undefined, '7').retryAfter, 7);
	t.is(failureFrom(429, undefined, 'Wed, 21 Oct 2026 07:28:00 GMT').retryAfter, undefined);
});

test('what a proxy answers while its server is away says nothing of the thing that was asked for', (t) => {
	for (const status of [404, 409, 410, 412]) {
		for (const body of [undefined, '<html>', {}, { error: 'Not Found' }]) {
			const failure = failureFrom(status, body, null);
			t.is(failure.kind, 'unavailable', `${status}`);
			t.is(failure.message, `HTTP error! status: ${status}`);
		}
	}
	const ours = { statusCode: 404, code: 'NOT_FOUND', error: 'Gone', message: 'Gone' };
	t.is(failureFrom(404, ours, null).kind, 'notFound');
});

test('an answer that is none of the server’s is no result, neither of a call with one nor of one without', async (t) => {
	const read = (endpoint: Parameters<typeof readResult>[0], body: string | null, status = 200) =>
		readResult(endpoint, new Response(body, { status }), undefined);
	t.is(await read(removeShareUpload, null, 204), undefined);
	for (const body of ['<html>Please sign in to the network</html>', '{}', 'null']) {
		for (const endpoint of [removeShareUpload, lookAtShare]) {
			const error = await t.throwsAsync(read(endpoint, body));
			t.true(error instanceof UnreadableAnswer, body);
			t.notRegex(error?.message ?? '', /[{[]/, 'a sentence');
		}
	}
});

test('a network error is a failure of its own', (t) => {
	const failure = new NetworkFailure();
	t.is(failure.kind, 'unavailable');
	t.is(failure.message, 'Network error');
});

const notice = (key: string, rest: Partial<ShownNotice> = {}): ShownNotice => ({ key, message: key, ...rest });

test('a notice replaces the one with its key', (t) => {
	const shown = notificationsReducer([notice('a'), notice('b')], {
		type: 'shown',
		notice: notice('a', { progress: 1 }),
	});
	t.deepEqual(shown, [notice('a', { progress: 1 }), notice('b')]);
});

const shownAfter = (...notices: ShownNotice[]) =>
	notices
		.reduce<readonly ShownNotice[]>((shown, next) => notificationsReducer(shown, { type: 'shown', notice: next }), [])
		.map(({ key }) => key)
		.join(' ');

test('of too many notices that hide themselves the oldest is removed, and no other', (t) => {
	const work = ['zip', 'upload', 'paste'].map((key) => notice(key, { progress: 0.2 }));
	t.is(shownAfter(notice('a'), ...work, notice('b'), notice('c'), notice('d')), 'zip upload paste b c d');
});

test('work in progress leaves room for errors and for Undo', (t) => {
	const work = ['zip', 'upload', 'paste', 'move'].map((key) => notice(key, { stays: true }));
	const error = notice('error', { intent: 'danger' });
	t.is(shownAfter(...work, error, notice('undo')), 'zip upload paste move error undo');
});

test('an error is removed only by other errors, and the latest notice by none', (t) => {
	const errors = ['1', '2', '3'].map((key) => notice(key, { intent: 'danger' }));
	t.is(shownAfter(errors[0] as ShownNotice, notice('a'), notice('b'), notice('c')), '1 b c');
	t.is(shownAfter(...errors, notice('a')), '2 3 a');
	t.is(shownAfter(...errors, notice('4', { intent: 'danger' })), '2 3 4');
});

test('a dismissed notice is removed, and dismissing an unknown one changes nothing', (t) => {
	const shown = [notice('a')];
	t.deepEqual(notificationsReducer(shown, { type: 'dismissed', key: 'a' }), []);
	t.is(notificationsReducer(shown, { type: 'dismissed', key: 'b' }), shown);
});

test('only notices without progress that do not stay are hidden automatically', (t) => {
	t.true(autoHides(notice('a')));
	t.false(autoHides(notice('a', { progress: 0 })));
	t.false(autoHides(notice('a', { progress: 'indeterminate' })));
	t.false(autoHides(notice('a', { stays: true })));
	t.false(autoHides(notice('a', { isDetailToCopy: true })));
});

test('a key of an input method is known also where only its number says so', (t) => {
	t.true(isComposing({ isComposing: true, keyCode: 27 }));
	t.true(isComposing({ isComposing: false, keyCode: 229 }));
	t.false(isComposing({ isComposing: false, keyCode: 27 }));
});

test('the arrow keys wrap around in a menu, and a letter leads to the next item that begins with it', (t) => {
	const items = ['My Files', 'Settings', 'Logout'];
	t.is(menuTarget('ArrowDown', items, 2), 0);
	t.is(menuTarget('ArrowUp', items, 0), 2);
	t.is(menuTarget('ArrowDown', items, -1), 0);
	t.is(menuTarget('Home', items, 1), 0);
	t.is(menuTarget('End', items, 1), 2);
	t.is(menuTarget('l', items, 0), 2);
	t.is(menuTarget('x', items, 0), undefined);
	t.is(menuTarget('Tab', items, 0), undefined);
	t.is(menuTarget('ArrowDown', [], -1), undefined);
});

test('the listings of a user are forgotten when another user signs in or the session ends, and kept otherwise', (t) => {
	const client = createQueryClient();
	t.teardown(() => client.clear());
	const key = queryKeys.listings.folder('private', '');
	const signIn = (username: string | null, promptBeforeDownload = false) => {
		const settings = { promptBeforeDownload, enablePreview: true };
		client.setQueryData(sessionQuery.queryKey, { isLoggedIn: username !== null, username, settings, quota: null });
	};
	signIn('ada');
	client.setQueryData(key, 'the files of ada');
	signIn('ada', true);
	t.is(client.getQueryData(key), 'the files of ada');
	client.setQueryData(queryKeys.links, 'the links of ada');
	client.setQueryData(queryKeys.share.of('token'), 'a share');
	signIn('bob');
	t.is(client.getQueryData(key), undefined);
	t.is(client.getQueryData(queryKeys.links), undefined);
	t.is(client.getQueryData(queryKeys.share.of('token')), 'a share', 'which is the same for all');
	client.setQueryData(key, 'the files of bob');
	signIn(null);
	t.is(client.getQueryData(key), undefined);
});

test('an order fails at once without a network, and is not carried out later', async (t) => {
	const client = createQueryClient();
	onlineManager.setOnline(false);
	t.teardown(() => {
		onlineManager.setOnline(true);
		client.clear();
	});
	const order = new MutationObserver(client, { mutationFn: () => Promise.reject(new NetworkFailure('Network error')) });
	await t.throwsAsync(order.mutate(), { message: 'Network error' });
	t.is(client.getMutationCache().getAll()[0]?.state.isPaused, false);
});
