import { isFailure, parsePath } from '@stowage/rules';
import { QueryClient } from '@tanstack/react-query';
import test, { type ExecutionContext } from 'ava';
import { createElement } from 'react';
import { cancel } from '../../src/api/jobs/jobs.js';
import { waitForJob } from '../../src/api/jobs/waitForJob.js';
import { sessionQuery } from '../../src/api/session/sessionQuery.js';
import { useBackgroundConversions } from '../../src/features/conversion/useBackgroundConversions.js';
import { useFileOperations } from '../../src/features/files/operations/useFileOperations.js';
import type { OperationContext } from '../../src/features/files/operations/verbs/OperationParts.js';
import { type Frame, FrameContext } from '../../src/ui/frame.js';
import { jobWith } from '../jobWith.js';
import { renderHook } from '../renderHook.js';
import { withoutPauses } from '../withoutPauses.js';

const sessionOf = (username: string) => ({
	isLoggedIn: true,
	username,
	settings: { promptBeforeDownload: true, enablePreview: true },
	quota: null,
});
const unknownJob = () =>
	Response.json({ statusCode: 404, code: 'NOT_FOUND', error: 'x', message: 'No such job' }, { status: 404 });

/** A server with jobs of ada's and copies, on which this user is signed in by now. */
function serve(
	t: ExecutionContext,
	username: string,
	answers: Readonly<Record<string, (headers: Headers) => Response>> = {},
) {
	const { fetch } = globalThis;
	t.teardown(() => Object.assign(globalThis, { fetch }));
	const requests: string[] = [];
	globalThis.fetch = async (input, init) => {
		const path = String(input);
		requests.push(path);
		if (answers[path]) return answers[path](new Headers(init?.headers));
		if (path === '/api/checkLoginStatus') return Response.json(sessionOf(username));
		if (path === '/api/jobs') return Response.json({ id: '1' }, { status: 202 });
		return unknownJob();
	};
	return requests;
}

function clientOf(username: string): QueryClient {
	const queryClient = new QueryClient();
	queryClient.setQueryData(sessionQuery.queryKey, sessionOf(username));
	return queryClient;
}

test.serial(
	'a job that is gone is told to its user, and ends the wait of one whom another user has replaced',
	async (t) => {
		serve(t, 'ada');
		const gone = await t.throwsAsync(waitForJob(clientOf('ada'), '1', { username: 'ada' }));
		t.true(isFailure(gone, 'notFound'));
		serve(t, 'bob');
		const queryClient = clientOf('ada');
		const replaced = await t.throwsAsync(waitForJob(queryClient, '1', { username: 'ada' }));
		t.true(isFailure(replaced, 'notSignedIn'));
		t.is(queryClient.getQueryData(sessionQuery.queryKey)?.username, 'bob', 'the page knows it from now on');
	},
);

test.serial('a job counts as gone only once the server has said who is signed in', async (t) => {
	let failures = 2;
	const requests = serve(t, 'bob', {
		'/api/checkLoginStatus': () => {
			if (failures-- > 0) throw new TypeError('Failed to fetch');
			return Response.json(sessionOf('bob'));
		},
	});
	const replaced = await t.throwsAsync(waitForJob(clientOf('ada'), '1', { username: 'ada' }));
	t.true(isFailure(replaced, 'notSignedIn'));
	t.is(requests.filter((path) => path === '/api/jobs/1').length, 3);
});

const frame = { openActivity: () => {} } as Frame;

test.serial('the next user of a page reads no notice about the conversions of the one before', async (t) => {
	const rendered = renderHook(
		() => useBackgroundConversions(() => {}),
		(child) => createElement(FrameContext, { value: frame }, child),
	);
	const { result: follow, notices, queryClient } = rendered;
	queryClient.setQueryData(sessionQuery.queryKey, sessionOf('ada'));
	serve(t, 'bob', {
		'/api/jobs/1': () => Response.json(jobWith({ id: '1', status: 'failed', title: 'Convert secret.mov', endTime: 1 })),
	});
	await follow('private', { ids: ['1', '2'], username: 'ada' });
	t.deepEqual([...notices.values()], []);
	await follow('private', { ids: ['1'], username: 'ada' });
	t.is(notices.size, 1, 'which was answered while she was signed in');
});

/** The operations on the files of ada, who is signed in. */
function operationsOfAda() {
	const viewer = { kind: 'user', id: 'ada', username: 'ada' } as const;
	const { result, notices, queryClient } = renderHook(() =>
		useFileOperations({
			...{ viewer, area: 'private', directory: parsePath('') },
			patch: () => {},
			show: () => {},
			remember: () => ({}),
			kept: { hasTrash: true, hasVersions: true },
			ask: async () => ({ taken: [], answers: new Map() }),
		} as unknown as OperationContext),
	);
	queryClient.setQueryData(sessionQuery.queryKey, sessionOf('ada'));
	const items = ['a.txt', 'b.txt'].map((name) => ({ name, path: name, type: 'file' as const, size: 1, mtime: 0 }));
	const copied = { operation: 'copy', sourceArea: 'private', sourceDirectory: parsePath(''), items } as const;
	return { paste: () => result.paste(copied, parsePath('to')), notices, queryClient };
}

test.serial('the next user of a page reads no notice about the copies of the one before', async (t) => {
	const { paste, notices, queryClient } = operationsOfAda();
	serve(t, 'bob');
	await paste();
	t.deepEqual([...notices.values()], []);
	t.is(queryClient.getQueryData(sessionQuery.queryKey)?.username, 'bob');
});

test.serial(
	'a copy whose start gets no answer is sent again with its key, and is then said to have perhaps begun',
	async (t) => {
		const { paste, notices } = operationsOfAda();
		const keys: (string | null)[] = [];
		serve(t, 'ada', {
			'/api/jobs': (headers) => {
				keys.push(headers.get('idempotency-key'));
				throw new TypeError('Failed to fetch');
			},
		});
		await withoutPauses(paste);
		t.is(keys.length, 4);
		t.regex(keys[0] ?? '', /^[0-9a-f]{32}$/);
		t.is(new Set(keys).size, 1);
		const detail = 'No answer came. It may have begun all the same: see Activity before you try again.';
		t.like([...notices.values()], [{ intent: 'danger', message: 'Error pasting items', detail }]);
	},
);

test.serial('a job whose cancellation gets no answer is cancelled again, and a refusal is one', async (t) => {
	const refusal = () =>
		Response.json({ statusCode: 403, code: 'FORBIDDEN', error: 'x', message: 'Not you' }, { status: 403 });
	const answers = [
		() => new Response('Bad gateway', { status: 502 }),
		() => Response.json({ message: 'It is being cancelled.' }),
	];
	const requests = serve(t, 'ada', { '/api/jobs/1': () => answers.shift()?.() ?? refusal() });
	await withoutPauses(() => cancel('1'));
	t.is(requests.length, 2);
	await t.throwsAsync(
		withoutPauses(() => cancel('1')),
		{ message: 'Not you' },
	);
	t.is(requests.length, 3);
});
