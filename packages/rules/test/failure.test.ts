import test from 'ava';
import { Failure, type FailureKind, failureKind, failures, isFailure } from '../src/index.js';

test('a failure has the status and the code of its kind', (t) => {
	const failure = new Failure('notFound', 'No such file or folder: a');
	t.is(failure.status, 404);
	t.is(failure.code, 'NOT_FOUND');
	t.is(failure.message, 'No such file or folder: a');
});

test('a failure keeps its cause and retryAfter', (t) => {
	const cause = new Error('ENOSPC');
	const failure = new Failure('rateLimited', 'Too many tries', { cause, retryAfter: 30 });
	t.is(failure.cause, cause);
	t.is(failure.retryAfter, 30);
	t.false('cause' in new Failure('invalid', 'No'));
});

test('isFailure distinguishes failures from other errors, and kinds from each other', (t) => {
	const failure: unknown = new Failure('locked', 'Another client writes this file');
	t.true(isFailure(failure));
	t.true(isFailure(failure, 'locked'));
	t.false(isFailure(failure, 'conflict'));
	t.false(isFailure(new Error('locked')));
	t.false(isFailure(undefined));
});

test('failureKind returns the kind of every code', (t) => {
	for (const kind of Object.keys(failures) as FailureKind[]) t.is(failureKind(failures[kind].code), kind);
	t.is(failureKind('NO_SUCH_CODE'), undefined);
});

test('isFailure recognizes a failure of another copy of the package', async (t) => {
	const copy = (await import('../src/failure.js?copy' as string)) as typeof import('../src/failure.js');
	const foreign = new copy.Failure('notFound', 'It is not here.');
	t.false(foreign instanceof Failure);
	t.true(isFailure(foreign));
	t.true(isFailure(foreign, 'notFound'));
	t.false(isFailure(foreign, 'invalid'));
	t.false(isFailure(new Error('a bug')));
	t.false(isFailure({ kind: 'notFound' }));
});
