import type { JobContext, JobOwner, Jobs } from '@stowage/plugin-api';
import { Failure, parsePath } from '@stowage/rules';
import test from 'ava';
import { usualMs } from '../../../../test/processorTime.js';
import type { CopyDependencies } from '../../src/pasting/copyKind.js';
import { createPasting } from '../../src/pasting/createPasting.js';
import { type PasteInput, pasteInput } from '../../src/pasting/pasteInput.js';
import { pasteItems, stateOf } from '../../src/pasting/pasteItems.js';
import { turnsDuring } from '../slowClock.js';

const viewer: JobOwner = { kind: 'user', id: 'a', username: 'ada' };

/** Items of which the protected folder may not be moved anywhere. */
function protectedItems(count: number, directory: string): PasteInput {
	const items = Array.from({ length: count }, () => ({ path: parsePath('Public') }));
	return { from: 'private', to: 'private', directory: parsePath(directory), items, address: '127.0.0.1' };
}

const deepest = Array(1000).fill('a'.repeat(60)).join('/');

/** Runs a move as its job does; nothing that is allowed is there. */
async function runMove(input: PasteInput) {
	let reports = 0;
	const job = {
		...{ id: 'a job', viewer, input, attempt: 1, saved: undefined },
		...{ signal: new AbortController().signal, isCancelled: false, checkpoint: async () => {} },
	} as unknown as JobContext<PasteInput>;
	const state = stateOf(job);
	const error = await pasteItems(
		job,
		state,
		{ kind: 'move', done: 'Moved' },
		{
			pasteItem: async () => {
				throw new Failure('notFound', 'There is no such file or folder.');
			},
			discardCurrent: async () => {},
			reportProgress: () => void reports++,
			monotonic: () => 0,
		},
	).then(
		() => undefined,
		(thrown: Error) => thrown,
	);
	return { state, error, reports };
}

test.serial('of a paste that is refused as a whole others have their turns between its items', async (t) => {
	const jobs = { define: () => ({}) } as unknown as Jobs;
	const pasting = createPasting(jobs, {} as CopyDependencies & { sharedFolders: never });
	const turns = await turnsDuring(() =>
		t.throwsAsync(pasting.start(viewer, 'move', protectedItems(30, 'to')), { message: 'Cannot cut protected folders' }),
	);
	t.true(turns >= 30, `${turns}`);
});

test('a short request with the key of a long one is refused before anything of that is read', async (t) => {
	const kept = protectedItems(10_000, 'to');
	const bytes = Buffer.byteLength(JSON.stringify({ ...kept, folders: [] }));
	const asked: number[] = [];
	const findByKey = async (_owner: JobOwner, _key: string, { maxBytes = Number.POSITIVE_INFINITY } = {}) => {
		asked.push(maxBytes);
		return { job: { id: 'kept' }, input: kept };
	};
	const jobs = { define: () => ({ findByKey }) } as unknown as Jobs;
	const pasting = createPasting(jobs, {} as CopyDependencies & { sharedFolders: never });
	const key = 'k'.repeat(22);
	t.like(await pasting.start(viewer, 'move', kept, { key }), { id: 'kept' });
	await t.throwsAsync(pasting.start(viewer, 'move', protectedItems(1, 'to'), { key }), { message: /another request/ });
	t.true((asked[0] ?? 0) > bytes);
	t.true((asked[1] ?? bytes) < 2_000);
});

test('the same request is found by its key whatever its paths are kept as', async (t) => {
	const folder = '\u2028"\u{1f600}'.repeat(20);
	const items = Array.from({ length: 20 }, (_, n) => ({ path: parsePath(`${folder}${n}/${n}`), owner: null }));
	const input: PasteInput = { from: 'shared', to: 'shared', directory: parsePath(folder), items, address: '::1' };
	const folders = items.map((_, n) => ({ name: `${folder}${n}`, id: 'f'.repeat(36) }));
	const bytes = Buffer.byteLength(JSON.stringify({ ...input, address: 'f'.repeat(45), folders }));
	const findByKey = async (_owner: JobOwner, _key: string, { maxBytes = 0 } = {}) => {
		t.true(maxBytes >= bytes);
		return { job: { id: 'kept' }, input };
	};
	const pasting = createPasting(
		{ define: () => ({ findByKey }) } as unknown as Jobs,
		{} as CopyDependencies & { sharedFolders: never },
	);
	t.like(await pasting.start(viewer, 'copy', input, { key: 'k'.repeat(22) }), { id: 'kept' });
});

test.serial('what a job is to do is parsed with turns for others between its items', async (t) => {
	const input = protectedItems(300, 'to');
	const turns = await turnsDuring(async () => t.deepEqual(await pasteInput.parseAsync(input), input));
	t.true(turns >= 100, `${turns}`);
});

test.serial('others have their turns between the items that a job may not move', async (t) => {
	const turns = await turnsDuring(() => runMove(protectedItems(30, 'to')));
	t.true(turns >= 30, `${turns}`);
});

test.serial(
	'thousands of items that may not be moved cost a job no more for a folder of a thousand levels',
	async (t) => {
		const ms = await usualMs(async () => {
			const { state, error, reports } = await runMove(protectedItems(1000, deepest));
			t.is(error?.message, 'Nothing was done. Cannot cut protected folders');
			t.is(state.failed, 1000);
			t.true(reports <= 2, `${reports} reports of progress`);
		});
		// To join a path with a thousand levels takes a millisecond and more.
		t.true(ms < 500, `${ms} ms`);
	},
);

test.serial('the list of faults of a job has as many as there is room for', async (t) => {
	const { state } = await runMove(protectedItems(300, 'to'));
	const bytes = Buffer.byteLength(JSON.stringify(state.faults));
	t.true(bytes <= 8 * 1024 && bytes > 8 * 1024 - 100, `${bytes}`);
});
