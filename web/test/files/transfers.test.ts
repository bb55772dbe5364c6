import { isFailure, parsePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import type { Job } from '../../src/api/jobs/jobs.js';
import { joinOutcomes, outcomeOf, transferredBy } from '../../src/features/files/operations/transferOutcome.js';
import { jobWith } from '../jobWith.js';

const job = (given: Partial<Job>) => jobWith({ status: 'completed', title: 'Copy 5 items to Holiday', ...given });

const items = ['a', 'b', 'c', 'd', 'e'].map((path) => ({ item: { path } }));
const missing = (path: string) => ({ path, message: `No such file or folder: ${path}`, code: 'NOT_FOUND' });

const hasOutcome = (t: ExecutionContext, given: Partial<Job>, done: string, failed: string, reason?: string) => {
	const outcome = outcomeOf(items, job(given));
	const pathsOf = (list: typeof items) => list.map(({ item }) => item.path).join('');
	t.is(pathsOf(outcome.done), done);
	t.is(pathsOf(outcome.failed), failed);
	t.is(outcome.reason instanceof Error ? outcome.reason.message : undefined, reason);
	t.is(pathsOf(outcome.left), given.status === 'cancelled' ? 'cde' : '');
};
test('a completed transfer has no failed items', hasOutcome, { detail: { done: 5, failed: 0 } }, 'abcde', '');
test('a completed transfer without a detail has no failed items', hasOutcome, {}, 'abcde', '');
test(
	'a transfer with failed items has the first reason',
	hasOutcome,
	{ detail: { done: 3, failed: 2, errors: [missing('b'), missing('d')] } },
	'ace',
	'bd',
	'No such file or folder: b',
);
test(
	'a transfer with more failures than it lists counts as many items as failed',
	hasOutcome,
	{ detail: { done: 2, failed: 3, errors: [missing('a')] } },
	'bc',
	'ade',
	'No such file or folder: a',
);
test(
	'items that a failed transfer did not reach have failed',
	hasOutcome,
	{
		status: 'failed',
		error: 'Copied 1 of 5 items. The disk is full.',
		detail: { done: 1, failed: 1, errors: [missing('b')] },
	},
	'a',
	'bcde',
	'Copied 1 of 5 items. The disk is full.',
);
test(
	'a transfer that failed at once has no item done',
	hasOutcome,
	{ status: 'failed', error: 'Something went wrong.' },
	'',
	'abcde',
	'Something went wrong.',
);
test(
	'items that a cancelled transfer did not reach have not failed',
	hasOutcome,
	{ status: 'cancelled', error: 'Copied 2 of 5 items.', detail: { done: 2, failed: 0, errors: [] } },
	'ab',
	'',
	'Copied 2 of 5 items.',
);

test('of two items with one path, of two owners, the one that has failed is known by its place', (t) => {
	const both = ['ada', 'bob'].map((owner) => ({ item: { path: 'plan.txt', owner }, toPath: parsePath('to/plan.txt') }));
	const errors = [{ ...missing('plan.txt'), index: 0 }];
	const outcome = transferredBy(both, job({ detail: { done: 1, failed: 1, errors } }));
	t.deepEqual(
		[outcome.done, outcome.failed, outcome.placed].map((list) => list?.map(({ item }) => item.owner)),
		[['bob'], ['ada'], ['bob']],
	);
});

test('the kind of a failure distinguishes a refused item from a fault of the server', (t) => {
	const refused = outcomeOf(items, job({ detail: { done: 4, failed: 1, errors: [missing('a')] } }));
	t.true(isFailure(refused.reason, 'notFound'));
	t.true(isFailure(outcomeOf(items, job({ status: 'failed', error: 'Something went wrong.' })).reason, 'unavailable'));
});

test('the parts of a transfer have one outcome', (t) => {
	const done = { done: [1], placed: [1], failed: [], left: [], reason: undefined };
	const reason = new Error('No room');
	t.deepEqual(joinOutcomes([done, { done: [2], placed: [20], failed: [3], left: [4], reason }]), {
		done: [1, 2],
		placed: [1, 20],
		failed: [3],
		left: [4],
		reason,
	});
	t.is(joinOutcomes([done, { ...done, placed: undefined }]).placed, undefined);
});

const steps = ['a', 'b', 'c'].map((path) => ({ item: { path }, toPath: parsePath(`to/${path}`) }));

const isPlaced = (t: ExecutionContext, detail: Job['detail'], expected: string[] | undefined) =>
	t.deepEqual(
		transferredBy(steps, job({ detail })).placed?.map(({ toPath }) => String(toPath)),
		expected,
	);
test('items keep their names where those are free', isPlaced, { done: 3, failed: 0 }, ['to/a', 'to/b', 'to/c']);
test(
	'an item whose name was taken is where the server says',
	isPlaced,
	{ done: 2, failed: 1, errors: [missing('a')], renamed: [[1, 'b (1)']] },
	['to/b (1)', 'to/c'],
);
test(
	'it is not known where items are if their new names are not all listed',
	isPlaced,
	{ done: 3, failed: 0, renamed: [[0, 'a (1)']], unlisted: 1 },
	undefined,
);
test(
	'it is not known where items are if the failed ones are not all listed',
	isPlaced,
	{ done: 1, failed: 2, errors: [missing('a')] },
	undefined,
);
test('it is not known where items are without a detail', isPlaced, null, undefined);
