import type { JobContext, JobOwner, Jobs } from '@stowage/plugin-api';
import { Failure, parsePath } from '@stowage/rules';
import test from 'ava';
import type { CopyDependencies } from '../../src/pasting/copyKind.js';
import { createPasting } from '../../src/pasting/createPasting.js';
import type { PasteInput } from '../../src/pasting/pasteInput.js';
import { pasteItems, stateOf } from '../../src/pasting/pasteItems.js';
import { turnsDuring } from '../slowClock.js';

const viewer: JobOwner = { kind: 'user', id: 'a', username: 'ada' };

/** Items of which the protected folder may not be moved anywhere. */
function protectedItems(count: number, directory: string): PasteInput {
	const items = Array.from({ length: count }, () => ({ path: parsePath('Public') }));
	return { from: 'private', to: 'private', directory: parsePath(directory), items, address: '127.0.0.1' };
}

const deepest = Array(1000).fill('a'.repeat(60)).join('/');

function processorMs(since: NodeJS.CpuUsage): number {
	const { user, system } = process.cpuUsage(since);
	return (user + system) / 1000;
}

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

test.serial('others have their turns between the items that a job may not move', async (t) => {
	const turns = await turnsDuring(() => runMove(protectedItems(30, 'to')));
	t.true(turns >= 30, `${turns}`);
});

test.serial(
	'thousands of items that may not be moved cost a job no more for a folder of a thousand levels',
	async (t) => {
		const before = process.cpuUsage();
		const { state, error, reports } = await runMove(protectedItems(1000, deepest));
		// To join a path with a thousand levels takes a millisecond and more.
		t.true(processorMs(before) < 500, `${processorMs(before)}`);
		t.is(error?.message, 'Nothing was done. Cannot cut protected folders');
		t.is(state.failed, 1000);
		t.true(reports <= 2, `${reports} reports of progress`);
	},
);

test.serial('the list of faults of a job has as many as there is room for', async (t) => {
	const { state } = await runMove(protectedItems(300, 'to'));
	const bytes = Buffer.byteLength(JSON.stringify(state.faults));
	t.true(bytes <= 8 * 1024 && bytes > 8 * 1024 - 100, `${bytes}`);
});
