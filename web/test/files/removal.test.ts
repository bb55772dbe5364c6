import { type Entry, type MoveStep, parsePath, rootPath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { type RunEachOptions, runEach } from '../../src/features/files/operations/runEach.js';
import type { RunBatch } from '../../src/features/files/operations/useBatch.js';
import { moveToArea } from '../../src/features/files/operations/verbs/moveToArea.js';
import { type OperationParts, outcomeNotices } from '../../src/features/files/operations/verbs/OperationParts.js';
import { outcomeNotice } from '../../src/features/files/operations/verbs/outcomeNotice.js';
import { dropInto } from '../../src/features/files/operations/verbs/paste.js';
import { removeEntries } from '../../src/features/files/operations/verbs/removeEntries.js';
import { runReversal } from '../../src/features/files/undo/runReversal.js';
import type { Undo } from '../../src/features/files/undo/undoStack.js';
import type { Notice } from '../../src/ui/notifications/notifications.js';

const entriesOf = (...paths: string[]) =>
	paths.map((path) => ({ name: path.replace(/^.*\//, ''), path, type: 'file', size: 0, mtime: 0 }) as Entry);

type Payload = Readonly<Record<string, unknown>>;

/** A server that does what has arrived there, also for a client that is gone, and a page that cancels during one of its calls. */
function serve(t: ExecutionContext, answer: (payload: Payload) => unknown, cancelDuring: number) {
	const { fetch } = globalThis;
	t.teardown(() => Object.assign(globalThis, { fetch }));
	const stop = new AbortController();
	const done: Payload[] = [];
	globalThis.fetch = (_input, init) => {
		const payload = JSON.parse(String(init?.body)) as Payload;
		done.push(payload);
		if (done.length === cancelDuring) stop.abort();
		return new Promise((resolve, reject) => {
			if (init?.signal?.aborted) reject(init.signal.reason);
			else setImmediate(() => resolve(Response.json(answer(payload))));
		});
	};
	const options: RunEachOptions = { signal: stop.signal, onProgress: () => {} };
	const runBatch: RunBatch = (_title, items, work) => runEach(items, work, options);
	return { done, runBatch };
}

function partsWith(runBatch: RunBatch) {
	const said: Notice[] = [];
	const undone: Undo[] = [];
	const parts = {
		area: 'private',
		runBatch,
		lookUp: (_title: string, read: () => unknown) => read(),
		namesIn: async () => new Map(),
		ask: async () => ({ taken: [], answers: new Map() }),
		forget: () => {},
		refetch: () => {},
		remember: (undo: Undo) => {
			undone.push(undo);
			return { key: 'undo-1' };
		},
		kept: { hasTrash: true, hasVersions: true },
		outcomes: outcomeNotices((notice) => {
			said.push(notice);
			return '';
		}),
	} as unknown as OperationParts;
	return { parts, said, undone };
}

test('what has ended says what is done, and how many have failed, were skipped and are left', (t) => {
	const texts = {
		verb: 'Moved',
		done: (items: string) => `Moved ${items}`,
		none: 'None',
		partly: 'Some',
		cancelled: 'Stop',
	};
	const ends = (done: number, failed: number, left: number, skipped = 0, reason?: Error) => {
		const names = entriesOf(...Array.from({ length: done }, (_, index) => `${index}.txt`));
		const notice = outcomeNotice(texts, { done: names, failed, left, skipped, reason }, { key: 'undo-1' });
		return notice && [notice.message, notice.detail, notice.intent, notice.key];
	};
	const no = new Error('No.');
	t.deepEqual(ends(2, 0, 0), ['Moved 2 items', undefined, 'success', 'undo-1']);
	t.deepEqual(ends(1, 0, 0, 3), ['Moved 0.txt', 'Skipped 3 items', 'success', 'undo-1']);
	t.deepEqual(ends(2, 1, 0, 0, no), ['Some', 'Moved 2 items. 1 failed. No.', 'danger', 'undo-1']);
	t.deepEqual(ends(1, 1, 4, 2, no), [
		'Some',
		'Moved 0.txt. 1 failed. Skipped 2 items. 4 items left. No.',
		'danger',
		'undo-1',
	]);
	t.deepEqual(ends(0, 3, 0, 0, no), ['None', 'No.', 'danger', undefined]);
	t.deepEqual(ends(0, 1, 2, 0, no), ['Some', 'Moved 0 items. 1 failed. 2 items left. No.', 'danger', 'undo-1']);
	t.deepEqual(ends(2, 0, 1), ['Stop', 'Moved 2 items. 1 item left.', undefined, 'undo-1']);
	t.deepEqual(ends(2, 0, 1, 0, new Error('Moved 2 of 3 items.')), ['Stop', 'Moved 2 of 3 items.', undefined, 'undo-1']);
	t.is(ends(0, 0, 0), undefined);
});

test('a drop that has failed in part says how many were moved, and undoes these', async (t) => {
	const { parts, said, undone } = partsWith(async () => {
		throw new Error('A drop is one call.');
	});
	const items = entriesOf('a', 'b', 'c');
	const runTransfer = async (_title: string, { steps }: { steps: readonly MoveStep[] }) => ({
		done: steps.slice(0, 2),
		placed: steps.slice(0, 2),
		failed: steps.slice(2),
		left: [],
		reason: new Error('No such file or folder: c'),
	});
	const viewer = { kind: 'user', id: '1', username: 'ada' } as const;
	const dragged = { operation: 'cut', items, sourceArea: 'private', sourceDirectory: rootPath } as const;
	await dropInto({ ...parts, viewer, runTransfer } as unknown as OperationParts, dragged, parsePath('docs'));
	const detail = 'Moved 2 items. 1 failed. No such file or folder: c';
	t.deepEqual(said, [{ intent: 'danger', message: 'Failed to move items', detail, key: 'undo-1' }]);
	t.deepEqual(pathsOf(undone[0], 'before'), ['a', 'b']);
});

const pathsOf = (undo: Undo | undefined, key: string) =>
	undo && 'items' in undo ? undo.items.map((item) => (item as unknown as Payload)[key]) : [];

test.serial('a delete that is cancelled says what the server has deleted, and undoes all of that', async (t) => {
	const { done, runBatch } = serve(t, ({ filePath }) => ({ message: '', trashId: `t-${filePath}` }), 4);
	const { parts, said, undone } = partsWith(runBatch);
	await removeEntries(parts, entriesOf('a', 'b', 'c', 'd', 'e', 'f'), 'trash');
	t.is(done.length, 4);
	t.is(done[0]?.permanent, false, 'where there is no trash by now it is refused');
	t.deepEqual(said, [{ message: 'Delete cancelled', detail: 'Deleted 4 items. 2 items left.', key: 'undo-1' }]);
	t.deepEqual(pathsOf(undone[0], 'trashId'), ['t-a', 't-b', 't-c', 't-d']);
});

test.serial('a move to public that is cancelled undoes all that is public by then', async (t) => {
	const entryAt = (toPath: string) => ({ ...entriesOf(toPath)[0], path: toPath });
	const { done, runBatch } = serve(t, ({ toPath }) => ({ message: '', entry: entryAt(String(toPath)) }), 2);
	const { parts, said, undone } = partsWith(runBatch);
	await moveToArea(parts, 'toPublic', entriesOf('x/a', 'y/b', 'z/c'));
	t.is(done.length, 2);
	t.deepEqual(said, [{ message: 'Move cancelled', detail: 'Moved 2 items. 1 item left.', key: 'undo-1' }]);
	t.deepEqual(pathsOf(undone[0], 'before'), ['x/a', 'y/b']);
});

test.serial('an undo that is cancelled goes on with what it has not restored', async (t) => {
	const { done, runBatch } = serve(
		t,
		({ ids }) => {
			const [gone, ...others] = ids as string[];
			const failed = [{ id: gone, code: 'NOT_FOUND', message: 'Gone' }];
			return { restored: others.map((id) => ({ id, path: id })), failed };
		},
		1,
	);
	const items = Array.from({ length: 450 }, (_, index) => ({ name: `${index}`, trashId: `${index}` }));
	const result = await runReversal({ kind: 'restore', items }, 'ada', runBatch);
	t.is(done.length, 1);
	const [asked] = done.map(({ ids }) => ids as string[]);
	t.is(asked?.[0], '449');
	t.is(result.done.length, (asked?.length ?? 0) - 1);
	t.deepEqual(result.reasons, ['"449" is not in the trash any more.']);
	t.is(result.notStarted, 450 - (asked?.length ?? 0));
	t.deepEqual(
		pathsOf(result.left, 'trashId'),
		items.slice(0, 450 - (asked?.length ?? 0)).map(({ trashId }) => trashId),
	);
});

test.serial('an undo whose call fails asks for nothing after it, and keeps all of that', async (t) => {
	let calls = 0;
	const { fetch } = globalThis;
	t.teardown(() => Object.assign(globalThis, { fetch }));
	globalThis.fetch = async () => {
		calls++;
		return Response.json({ statusCode: 500, code: 'UNAVAILABLE', error: 'x', message: 'No.' }, { status: 503 });
	};
	const signal = new AbortController().signal;
	const runBatch: RunBatch = (_title, all, work) => runEach(all, work, { signal, onProgress: () => {} });
	const items = Array.from({ length: 450 }, (_, index) => ({ name: `${index}`, trashId: `${index}` }));
	const result = await runReversal({ kind: 'restore', items }, 'ada', runBatch);
	t.is(calls, 1);
	t.deepEqual(result, { done: [], reasons: ['No.'], left: { kind: 'restore', items }, notStarted: 0 });
});
