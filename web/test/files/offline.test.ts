import { mock } from 'node:test';
import type { capabilities, ResultOf } from '@stowage/contract';
import { type MoveStep, parsePath } from '@stowage/rules';
import {
	environmentManager,
	focusManager,
	onlineManager,
	QueryClientProvider,
	QueryObserver,
} from '@tanstack/react-query';
import test from 'ava';
import { createElement } from 'react';
import { capabilitiesQuery } from '../../src/api/capabilities.js';
import { NetworkFailure } from '../../src/api/client/client.js';
import { resending } from '../../src/api/client/idempotency.js';
import { retryIntervalAfter } from '../../src/api/client/retries.js';
import { userSessionsQuery } from '../../src/api/session/userSessions.js';
import { createQueryClient } from '../../src/app/queryClient.js';
import { useTargetNames } from '../../src/features/files/folder/useTargetNames.js';
import type { OperationParts } from '../../src/features/files/operations/verbs/OperationParts.js';
import { settleSteps } from '../../src/features/files/operations/verbs/settleNames.js';
import { renderHook } from '../renderHook.js';

// The state of the network and of the window belongs to the process.
test.serial('a paste without a network does not wait for one to learn which names are taken', async (t) => {
	const client = createQueryClient();
	onlineManager.setOnline(false);
	t.teardown(() => {
		onlineManager.setOnline(true);
		client.clear();
	});
	const { result: namesIn } = renderHook(
		() => useTargetNames({ kind: 'user', id: '1', username: 'ada' }),
		(child) => createElement(QueryClientProvider, { client }, child),
	);
	const parts: Pick<OperationParts, 'lookUp' | 'namesIn' | 'ask'> = {
		lookUp: (_, read) => read(),
		namesIn,
		ask: async (taken) => ({ taken, answers: new Map() }),
	};
	const item = { path: 'a.txt', name: 'a.txt', type: 'file' } as const;
	const steps: MoveStep[] = [{ item, type: 'private', fromPath: parsePath('a.txt'), toPath: parsePath('docs/a.txt') }];
	const target = { from: 'private', to: 'private', folder: parsePath('docs') } as const;
	const settled = await settleSteps(parts as OperationParts, steps, target);
	t.deepEqual(settled?.steps, steps);
	t.false(onlineManager.isOnline());
});

test.serial('without a network an order is not sent again, and so not carried out later', async (t) => {
	t.teardown(() => onlineManager.setOnline(true));
	onlineManager.setOnline(false);
	let calls = 0;
	const order = () => {
		calls++;
		return Promise.reject(new NetworkFailure());
	};
	await t.throwsAsync(resending(order), { message: 'Network error' });
	t.is(calls, 1);
});

test.serial('what is shown says at once that there is no network, and is fetched when there is one', async (t) => {
	const client = createQueryClient();
	client.mount();
	onlineManager.setOnline(false);
	let calls = 0;
	const observer = new QueryObserver(client, {
		queryKey: ['links'],
		queryFn: async () => {
			calls++;
			if (!onlineManager.isOnline()) throw new NetworkFailure();
			return 'links';
		},
	});
	const unsubscribe = observer.subscribe(() => {});
	t.teardown(() => {
		unsubscribe();
		onlineManager.setOnline(true);
		client.unmount();
		client.clear();
	});
	const until = (status: 'error' | 'success') =>
		new Promise<void>((resolve) => {
			if (observer.getCurrentResult().status === status) resolve();
			observer.subscribe((result) => result.status === status && resolve());
		});
	await until('error');
	t.is(calls, 1);
	onlineManager.setOnline(true);
	await until('success');
	t.is(calls, 2);
});

test.serial('a page that is shown again after a while asks for the settings of the server again', async (t) => {
	const { fetch } = globalThis;
	const client = createQueryClient();
	client.mount();
	const asked: string[] = [];
	globalThis.fetch = async (input) => {
		asked.push(String(input));
		throw new TypeError('Failed to fetch');
	};
	client.setQueryData(capabilitiesQuery.queryKey, { trashKeepFor: 1 } as ResultOf<typeof capabilities>);
	const unsubscribe = new QueryObserver(client, client.defaultQueryOptions(capabilitiesQuery)).subscribe(() => {});
	t.teardown(() => {
		unsubscribe();
		focusManager.setFocused(undefined);
		client.unmount();
		client.clear();
		Object.assign(globalThis, { fetch });
	});
	const showAgain = async () => {
		focusManager.setFocused(false);
		focusManager.setFocused(true);
		await new Promise((resolve) => setImmediate(resolve));
	};
	await showAgain();
	t.deepEqual(asked, [], 'they are fresh');
	client.setQueryData(capabilitiesQuery.queryKey, (known) => known, { updatedAt: Date.now() - 6 * 60_000 });
	await showAgain();
	t.deepEqual(asked, ['/api/capabilities']);
	t.is(
		client.getQueryData(capabilitiesQuery.queryKey)?.trashKeepFor,
		1,
		'without an answer they are those that it knows',
	);
});

test.serial('without a network a list is not fetched, and announced, again and again', async (t) => {
	const { fetch } = globalThis;
	const client = createQueryClient();
	client.mount();
	onlineManager.setOnline(false);
	let calls = 0;
	globalThis.fetch = async () => {
		calls++;
		if (!onlineManager.isOnline()) throw new TypeError('Failed to fetch');
		return Response.json([]);
	};
	// In Node nothing is fetched again by itself otherwise.
	environmentManager.setIsServer(() => false);
	mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
	const pass = async (ms: number) => {
		mock.timers.tick(ms);
		// What was answered is told to the page a turn later.
		for (let turn = 0; turn < 10; turn++) {
			await new Promise((resolve) => setImmediate(resolve));
			mock.timers.tick(1);
		}
	};
	const unsubscribe = new QueryObserver(client, client.defaultQueryOptions(userSessionsQuery('ada'))).subscribe(
		() => {},
	);
	t.teardown(() => {
		unsubscribe();
		mock.timers.reset();
		environmentManager.setIsServer(() => true);
		onlineManager.setOnline(true);
		client.unmount();
		client.clear();
		Object.assign(globalThis, { fetch });
	});
	await pass(0);
	t.is(calls, 1);
	await pass(90_000);
	t.is(calls, 1);
	t.false(retryIntervalAfter(new NetworkFailure()), 'nor is a folder');
	onlineManager.setOnline(true);
	while (client.getQueryData(userSessionsQuery('ada').queryKey) === undefined) await pass(0);
	t.is(calls, 2);
	await pass(30_000);
	t.is(calls, 3);
});
