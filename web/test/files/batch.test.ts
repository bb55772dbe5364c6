import test from 'ava';
import { createElement } from 'react';
import { sessionQuery } from '../../src/api/session/sessionQuery.js';
import { type FileSource, FileSourceContext } from '../../src/api/sources/FileSource.js';
import { useDownloads } from '../../src/features/downloads/useDownloads.js';
import { reasonOf } from '../../src/features/files/operations/runEach.js';
import { useBatch } from '../../src/features/files/operations/useBatch.js';
import { useLookUp } from '../../src/features/files/operations/useLookUp.js';
import { renderHook } from '../renderHook.js';

/** Calls that end when they are told to, in their order. */
function heldCalls() {
	const held: (() => void)[] = [];
	return {
		call: () => new Promise<void>((resolve) => held.push(resolve)),
		begun: () => held.length,
		end: async (count = 1) => {
			for (const resolve of held.splice(0, count)) resolve();
			await new Promise((resolve) => setImmediate(resolve));
		},
	};
}

/** Notices are shown once work has taken a while. */
const untilShown = () => new Promise((resolve) => setTimeout(resolve, 500));

test('of two works at the same time each has its notice, and its Cancel', async (t) => {
	const { result: runBatch, notices } = renderHook(useBatch);
	const [first, second] = [heldCalls(), heldCalls()];
	const ending = [runBatch('Deleting 2 items', [1, 2], first.call), runBatch('Moving 3 items', [1, 2, 3], second.call)];
	await untilShown();
	const shown = [...notices.values()];
	t.deepEqual(
		shown.map(({ message }) => message),
		['Deleting 2 items', 'Moving 3 items'],
	);
	shown[0]?.onCancel?.();
	await first.end();
	t.like(await ending[0], { done: [1], left: [2] });
	t.deepEqual(
		[...notices.values()].map(({ message }) => message),
		['Moving 3 items'],
	);
	for (let count = 0; count < 3; count++) await second.end();
	t.like(await ending[1], { done: [1, 2, 3], left: [] });
	t.is(notices.size, 0);
});

test('Cancel is offered while there is something that it would leave out', async (t) => {
	const { result: runBatch, notices } = renderHook(useBatch);
	const one = heldCalls();
	const single = runBatch('Rename', [1], one.call);
	const two = heldCalls();
	const both = runBatch('Deleting 2 items', [1, 2], two.call);
	await untilShown();
	const offers = () => [...notices.values()].map(({ message, onCancel }) => [message, onCancel !== undefined]);
	t.deepEqual(offers(), [
		['Rename', false],
		['Deleting 2 items', true],
	]);
	await one.end();
	await two.end();
	t.deepEqual(offers(), [['Deleting 2 items', false]]);
	await two.end();
	t.like(await single, { done: [1], left: [] });
	t.like(await both, { done: [1, 2], left: [] });
});

test('work that goes on after its page was left ends with the session of its user', async (t) => {
	const { result: runBatch, queryClient } = renderHook(useBatch);
	const signIn = (username: string) => {
		const settings = { promptBeforeDownload: false, enablePreview: true };
		queryClient.setQueryData(sessionQuery.queryKey, { isLoggedIn: true, username, settings, quota: null });
	};
	signIn('ada');
	const calls = heldCalls();
	const ending = runBatch('Deleting 3 items', [1, 2, 3], calls.call);
	signIn('bob');
	await calls.end();
	const { done, failed, reason } = await ending;
	t.deepEqual([done, failed], [[1], [2, 3]]);
	t.is(reasonOf(reason), 'ada is not signed in any more.');
});

test('a look-up is given up at once, however long it takes', async (t) => {
	const { result: lookUp, notices } = renderHook(useLookUp);
	const waiting = lookUp('Looking into docs', () => new Promise<object>(() => {}));
	await untilShown();
	for (const { onCancel } of notices.values()) onCancel?.();
	t.is(await waiting, undefined);
	t.is(notices.size, 0);
	t.deepEqual(await lookUp('Looking into docs', async () => ['a']), ['a']);
});

test('of two ZIPs that are prepared each has its notice, and its Cancel', async (t) => {
	const signals: AbortSignal[] = [];
	const source = {
		createTicket: (_directory: string, _entries: unknown, signal: AbortSignal) =>
			new Promise((_, reject) => {
				signals.push(signal);
				signal.addEventListener('abort', () => reject(signal.reason));
			}),
	} as unknown as FileSource;
	const { result: download, notices } = renderHook(
		() => useDownloads(''),
		(child) => createElement(FileSourceContext, { value: source }, child),
	);
	const folder = { path: 'docs', name: 'docs', type: 'directory', size: 0 } as const;
	download([folder], true);
	download([folder], true);
	t.is(notices.size, 2);
	const [first] = notices.values();
	first?.onCancel?.();
	await new Promise((resolve) => setImmediate(resolve));
	t.deepEqual(
		signals.map(({ aborted }) => aborted),
		[true, false],
	);
	t.is(notices.size, 1);
});
