import { Failure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { failureFrom, NetworkFailure } from '../../src/api/client/client.js';
import { refetchIntervalAfter } from '../../src/features/files/folder/refreshPolicy.js';

const refetches = (t: ExecutionContext, error: Error | null, isShown: boolean, expected: number | false) =>
	t.is(refetchIntervalAfter(error, isShown), expected);

test('a listing is not fetched again after a success', refetches, null, true, false);
test('a shown listing is fetched every four seconds without a response', refetches, new NetworkFailure(), true, 4000);
test('so is a first listing', refetches, new NetworkFailure(), false, 4000);
test(
	'a shown listing is fetched every 15 s while the server fails',
	refetches,
	failureFrom(507, undefined, null),
	true,
	15_000,
);
test('a first listing waits for its user after an error', refetches, failureFrom(507, undefined, null), false, false);
test(
	'a shown listing is fetched again when a busy server says so',
	refetches,
	failureFrom(429, undefined, '60'),
	true,
	60_000,
);
test('and not sooner than after 15 s', refetches, failureFrom(503, undefined, '1'), true, 15_000);
test(
	'a folder that is gone is not fetched again',
	refetches,
	new Failure('notFound', 'There is no such folder'),
	true,
	false,
);
