import { setTimeout as wait } from 'node:timers/promises';
import { parsePath } from '@stowage/rules';
import { QueryClient } from '@tanstack/react-query';
import test from 'ava';
import { refreshOf } from '../../src/api/events/useFolderEvents.js';
import { RestoreOffers } from '../../src/features/files/undo/RestoreOffers.js';
import {
	undoCopies,
	undoDeletion,
	undoMoves,
	undoRename,
	undoRestoredVersion,
} from '../../src/features/files/undo/reversals.js';
import { undoNotices } from '../../src/features/files/undo/undoNotices.js';
import {
	emptyUndoStack,
	reduceUndo,
	stepToUndo,
	type UndoStack,
	type UndoStep,
} from '../../src/features/files/undo/undoStack.js';

const step = (id: number): UndoStep => ({ id, undo: { kind: 'restore', items: [{ name: 'a', trashId: `${id}` }] } });
const stackOf = (username: string, ...ids: number[]): UndoStack =>
	ids.reduce((stack, id) => reduceUndo(stack, { type: 'added', username, step: step(id) }), emptyUndoStack);
const ids = ({ steps }: UndoStack) => steps.map(({ id }) => id);

test('the last operation is undone first, and each one once', (t) => {
	let stack = stackOf('ada', 1, 2, 3);
	const undone: number[] = [];
	for (let next = stepToUndo(stack, 'ada'); next; next = stepToUndo(stack, 'ada')) {
		undone.push(next.id);
		stack = reduceUndo(stack, { type: 'taken', id: next.id });
	}
	t.deepEqual(undone, [3, 2, 1]);
	t.is(stepToUndo(emptyUndoStack, 'ada'), undefined);
});

test('the button of a notice undoes its own operation, and no other one once that is undone', (t) => {
	const stack = stackOf('ada', 1, 2, 3);
	t.is(stepToUndo(stack, 'ada', 2)?.id, 2);
	const after = reduceUndo(stack, { type: 'taken', id: 2 });
	t.deepEqual(ids(after), [1, 3]);
	t.is(stepToUndo(after, 'ada', 2), undefined);
});

test('what could not be undone for now is undone next', (t) => {
	const stack = reduceUndo(stackOf('ada', 1, 2), { type: 'taken', id: 2 });
	t.is(stepToUndo(reduceUndo(stack, { type: 'added', username: 'ada', step: step(4) }), 'ada')?.id, 4);
});

test('nothing of another user is undone', (t) => {
	const stack = stackOf('ada', 1, 2);
	t.is(stepToUndo(stack, 'bob'), undefined);
	t.is(stepToUndo(stack, 'bob', 1), undefined);
	const after = reduceUndo(stack, { type: 'added', username: 'bob', step: step(3) });
	t.deepEqual(ids(after), [3]);
	t.is(stepToUndo(after, 'ada'), undefined);
});

test('the oldest of too many operations is forgotten', (t) => {
	const stack = stackOf('ada', ...Array.from({ length: 150 }, (_, id) => id));
	t.is(stack.steps.length, 100);
	t.deepEqual([ids(stack)[0], stepToUndo(stack, 'ada')?.id], [50, 149]);
});

test('what was deleted is restored by its ids in the trash', (t) => {
	const deleted = [
		{ entry: { name: 'a' }, trashId: '1' },
		{ entry: { name: 'b' }, trashId: undefined },
	];
	t.deepEqual(undoDeletion(deleted), { kind: 'restore', items: [{ name: 'a', trashId: '1' }] });
	t.is(undoDeletion(deleted.slice(1)).kind, 'impossible');
});

test('what was moved goes back to its former name', (t) => {
	const placed = [{ type: 'private' as const, fromPath: parsePath('a.txt'), toPath: parsePath('docs/a (1).txt') }];
	t.deepEqual(undoMoves(placed), {
		kind: 'moveBack',
		items: [{ name: 'a (1).txt', area: 'private', path: parsePath('docs/a (1).txt'), before: parsePath('a.txt') }],
	});
	t.is(undoMoves(undefined).kind, 'impossible');
	t.deepEqual(undoRename('public', { name: 'a.txt' }, { name: 'b.txt', path: 'docs/b.txt' }), {
		kind: 'renameBack',
		items: [{ name: 'b.txt', area: 'public', path: parsePath('docs/b.txt'), before: 'a.txt' }],
	});
});

test('copies go to the trash where there is one, and are never deleted forever', (t) => {
	const placed = [{ type: 'public' as const, fromPath: parsePath('a.txt'), toPath: parsePath('a (1).txt') }];
	t.deepEqual(undoCopies(placed, { hasTrash: true, hasVersions: true }), {
		kind: 'discard',
		items: [{ name: 'a (1).txt', area: 'public', path: parsePath('a (1).txt') }],
	});
	t.is(undoCopies(placed, { hasTrash: false, hasVersions: true }).kind, 'impossible');
	t.is(undoCopies(undefined, { hasTrash: true, hasVersions: true }).kind, 'impossible');
});

test('a file that a copy has replaced is restored, with the other copies as one operation', (t) => {
	const replaced = { name: 'a', path: 'docs/a', type: 'file' as const, size: 3, mtime: 5 };
	const copy = (name: string) => ({
		type: 'private' as const,
		fromPath: parsePath(name),
		toPath: parsePath(`docs/${name}`),
	});
	const file = { name: 'a', area: 'private', path: parsePath('docs/a'), size: 3, mtime: 5 } as const;
	const placed = [{ ...copy('a'), replaced }, copy('b')];
	const versions = { kind: 'restoreVersions', items: [file] } as const;
	t.deepEqual(undoCopies(placed.slice(0, 1), { hasTrash: false, hasVersions: true }), versions);
	t.deepEqual(undoCopies(placed, { hasTrash: true, hasVersions: true }), {
		kind: 'several',
		parts: [{ kind: 'discard', items: [{ name: 'b', area: 'private', path: parsePath('docs/b') }] }, versions],
		reasons: [],
	});
	const withoutVersions = undoCopies(placed, { hasTrash: true, hasVersions: false });
	t.true(withoutVersions.kind === 'several' && withoutVersions.reasons.length === 1);
	t.is(undoCopies(placed.slice(0, 1), { hasTrash: true, hasVersions: false }).kind, 'impossible');
});

test('what was moved over a file stays, and the rest goes back', (t) => {
	const replaced = { name: 'a', path: 'docs/a', type: 'file' as const, size: 3, mtime: 5 };
	const moved = (name: string) => ({
		type: 'private' as const,
		fromPath: parsePath(name),
		toPath: parsePath(`docs/${name}`),
	});
	const undo = undoMoves([{ ...moved('a'), replaced }, moved('b')]);
	t.deepEqual(undo, {
		kind: 'several',
		parts: [
			{ kind: 'moveBack', items: [{ name: 'b', area: 'private', path: parsePath('docs/b'), before: parsePath('b') }] },
		],
		reasons: ['“a” has replaced a file, which is among its versions now.'],
	});
	t.is(undoMoves([{ ...moved('a'), replaced }]).kind, 'impossible');
});

test('restoring a version is undone by the one that was not known before', (t) => {
	const entry = { name: 'a', path: 'docs/a' };
	const [known, other] = [[{ id: '1' }, { id: '2' }], { id: '3' }];
	t.deepEqual(undoRestoredVersion('private', entry, known, [other, { id: '2' }]), {
		kind: 'restoreBack',
		items: [{ name: 'a', area: 'private', path: parsePath('docs/a'), version: '3' }],
	});
	t.is(undoRestoredVersion('private', entry, known, []).kind, 'impossible');
});

test('what was moved into a shared folder or out of one is not moved back', (t) => {
	const moved = { type: 'shared', fromPath: parsePath('a.txt'), toPath: parsePath('Photos/a.txt') } as const;
	t.is(undoMoves([moved]).kind, 'moveBack');
	const undo = undoMoves([moved, { ...moved, isAcross: true }]);
	t.is(undo.kind, 'impossible');
	t.regex('reason' in undo ? undo.reason : '', /^a\.txt went into or out of a shared folder/);
});

test('an undo that is cancelled says how many items are left, and why others could not be undone', (t) => {
	t.deepEqual(undoNotices([], 0), []);
	t.deepEqual(undoNotices([], 3), [{ message: 'Undo cancelled', detail: '3 items left.' }]);
	t.deepEqual(undoNotices(['a.', 'b.'], 1), [
		{ message: 'Undo cancelled', detail: '1 item left.' },
		{ intent: 'danger', message: 'Cannot undo for 2 items', detail: 'a.\nb.' },
	]);
});

/** Offers of a clock that is set by hand, and the items whose notices were withdrawn. */
function offersAt() {
	const clock = { now: 0 };
	const offers = new RestoreOffers(() => clock.now);
	const withdrawn: string[] = [];
	const offer = (...trashIds: string[]) => {
		const items = trashIds.map((trashId) => ({ name: trashId, trashId }));
		offers.add({ kind: 'restore', items }, () => withdrawn.push(trashIds.join()));
	};
	const answer = (...ids: string[]) => offers.onListed({ entries: ids.map((id) => ({ id })) });
	const list = (...ids: string[]) => {
		offers.onFetching();
		answer(...ids);
	};
	return { clock, offers, withdrawn, offer, list, answer };
}

test('a notice does not offer any longer to restore what somebody else has restored', (t) => {
	const { clock, offers, withdrawn, offer, list } = offersAt();
	offer('a');
	offer('b', 'c');
	clock.now = 2000;
	list('a', 'b', 'c');
	t.deepEqual(withdrawn, []);
	list('c');
	t.deepEqual(withdrawn, ['a']);
	list();
	t.deepEqual(withdrawn, ['a', 'b,c']);
	list();
	t.is(withdrawn.length, 2);
	t.false(offers.isToCheck);
});

test('what lists the trash as it was before a deletion, or in part, withdraws no offer', (t) => {
	const { clock, offers, withdrawn, offer, list } = offersAt();
	offer('a');
	list();
	clock.now = 2000;
	offers.onListed({ entries: [], truncated: true });
	t.deepEqual(withdrawn, []);
	list();
	t.deepEqual(withdrawn, ['a']);
});

test('a listing that takes long withdraws no offer that came after its beginning', (t) => {
	const { clock, offers, withdrawn, offer, list, answer } = offersAt();
	offer('a');
	clock.now = 2000;
	offers.onFetching();
	clock.now = 2500;
	offer('b');
	clock.now = 5000;
	answer();
	t.deepEqual(withdrawn, ['a']);
	list();
	t.deepEqual(withdrawn, ['a', 'b']);
});

test('while the trash is listed, events of it are followed by one other listing, after a pause', async (t) => {
	const queryClient = new QueryClient();
	const queryKey = ['trash', 'ada'];
	const answers: (() => void)[] = [];
	const queryFn = () => new Promise<null>((resolve) => answers.push(() => resolve(null)));
	const refetch = () => void queryClient.fetchQuery({ queryKey, queryFn, staleTime: 0, gcTime: 1000 });
	const { refresh, stop } = refreshOf(queryClient, ['trash'], { refetch });
	refetch();
	for (let count = 0; count < 5; count++) refresh.onChangeEvent();
	await wait(150);
	t.is(answers.length, 1);
	answers[0]?.();
	await wait(0);
	t.is(answers.length, 1, 'not at once');
	for (let tries = 0; answers.length < 2 && tries < 200; tries++) await wait(50);
	t.is(answers.length, 2);
	answers[1]?.();
	await wait(600);
	t.is(answers.length, 2);
	stop();
});

test('the trash is listed for an offer that is on screen, and not for the event of its own deletion', (t) => {
	const { clock, offers, offer } = offersAt();
	t.false(offers.isToCheck);
	offer('a');
	clock.now = 500;
	t.false(offers.isToCheck);
	clock.now = 2000;
	t.true(offers.isToCheck);
	clock.now = 60_001;
	t.false(offers.isToCheck);
	offers.add({ kind: 'impossible', reason: '' }, () => t.fail());
	clock.now = 62_000;
	t.false(offers.isToCheck);
});
