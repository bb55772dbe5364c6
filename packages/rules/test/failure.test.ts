import test from 'ava';
import { Failure, type FailureKind, failureKind, failures, isFailure } from '../src/index.js';

test('A failure has the status and code of its kind', (t) => {
	const failure = new Failure('notFound', 'No such file or folder: a');
	t.is(failure.status, 404);
	t.is(failure.code, 'NOT_FOUND');
	t.is(failure.message, 'No such file or folder: a');
});

test('A failure keeps its cause and the time to wait', (t) => {
	const cause = new Error('ENOSPC');
	const failure = new Failure('rateLimited', 'Too many tries', { cause, retryAfter: 30 });
	t.is(failure.cause, cause);
	t.is(failure.retryAfter, 30);
	t.false('cause' in new Failure('invalid', 'No'));
});

test('isFailure tells failures from other errors, and kinds apart', (t) => {
	const failure: unknown = new Failure('locked', 'Somebody else writes this file');
	t.true(isFailure(failure));
	t.true(isFailure(failure, 'locked'));
	t.false(isFailure(failure, 'conflict'));
	t.false(isFailure(new Error('locked')));
	t.false(isFailure(undefined));
});

test('Every code leads back to its kind', (t) => {
	for (const kind of Object.keys(failures) as FailureKind[]) t.is(failureKind(failures[kind].code), kind);
	t.is(failureKind('NO_SUCH_CODE'), undefined);
});

test('a Failure of another copy of the package is a Failure', async (t) => {
	const copy = (await import('../src/failure.js?copy' as string)) as typeof import('../src/failure.js');
	const theirs = new copy.Failure('notFound', 'It is not here.');
	t.false(theirs instanceof Failure);
	t.true(isFailure(theirs));
	t.true(isFailure(theirs, 'notFound'));
	t.false(isFailure(theirs, 'invalid'));
	t.false(isFailure(new Error('a bug')));
	t.false(isFailure({ kind: 'notFound' }));
});
