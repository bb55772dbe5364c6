import test, { type ExecutionContext } from 'ava';
import { type Job, withJob } from '../src/api/jobs/jobs.js';
import {
	announcement,
	barOf,
	detailText,
	overallFraction,
	sortJobs,
	statusText,
} from '../src/features/activity/jobText.js';

const job = (told: Partial<Job> = {}): Job => ({
	id: '1',
	kind: 'copy',
	status: 'processing',
	title: 'Copy 3 items to Holiday',
	done: 0,
	total: 0,
	unit: 'bytes',
	speed: null,
	timeLeft: null,
	error: null,
	canRetry: false,
	detail: null,
	createdAt: 0,
	startTime: null,
	endTime: null,
	...told,
});

const megabyte = 1024 * 1024;
const says = (t: ExecutionContext, told: Partial<Job>, status: string, detail: string) => {
	t.is(statusText(job(told)), status);
	t.is(detailText(job(told)).replaceAll('\u00A0', ' '), detail);
};
test('one that waits for its turn', says, { status: 'queued', total: 100, speed: 5 }, 'Queued', '');
test('one of which nothing is known yet', says, {}, 'Processing', '');
test(
	'bytes',
	says,
	{ done: 12 * megabyte, total: 40 * megabyte, speed: 7 * megabyte, timeLeft: 4 },
	'30%',
	'12.0 MB of 40.0 MB · 7.0 MB/s · 4s left',
);
test(
	'items',
	says,
	{ unit: 'items', done: 1999, total: 20_000, speed: 35.4, timeLeft: 510 },
	'9%',
	'1,999 of 20,000 items · 35 items/s · 8m 30s left',
);
test(
	'a conversion',
	says,
	{ unit: 'percent', done: 41.9, total: 100, timeLeft: 62, detail: { currentFps: 61.31, eta: '1m2s' } },
	'41%',
	'61.3 fps · 1m 2s left',
);
test(
	'a conversion that is done',
	says,
	{ status: 'completed', unit: 'percent', detail: { sizeBefore: 40 * megabyte, sizeAfter: 9 * megabyte } },
	'Completed',
	'40.0 MB → 9.0 MB',
);
test('a detail of another kind is left out', says, { status: 'failed', detail: { sizeBefore: 'many' } }, 'Failed', '');

test('the bar is at its end when the work is, and moves without a length while it has none', (t) => {
	t.is(barOf(job({ status: 'completed' })), 1);
	t.is(barOf(job()), undefined);
	t.is(barOf(job({ status: 'queued' })), 0);
	t.is(barOf(job({ done: 30, total: 20 })), 1);
	t.is(overallFraction([job({ done: 50, total: 100 }), job({ status: 'queued' }), job({ status: 'completed' })]), 0.25);
});

test('what runs is listed first, then what waits, then what ended last', (t) => {
	const ids = sortJobs([
		job({ id: 'waits later', status: 'queued', createdAt: 5 }),
		job({ id: 'ended first', status: 'failed', endTime: 7 }),
		job({ id: 'waits', status: 'queued', createdAt: 4 }),
		job({ id: 'ended last', status: 'completed', endTime: 9 }),
		job({ id: 'runs', createdAt: 3 }),
	]).map(({ id }) => id);
	t.deepEqual(ids, ['runs', 'waits', 'waits later', 'ended last', 'ended first']);
});

test('a screen reader hears of states, not of each step', (t) => {
	const before = [job({ id: 'a', done: 1, total: 9 }), job({ id: 'b', status: 'queued', title: 'Convert b.mov' })];
	t.is(announcement(before, [job({ id: 'a', done: 2, total: 9 }), before[1] as Job]), '');
	t.is(
		announcement(before, [job({ id: 'a', status: 'completed' }), job({ id: 'b', title: 'Convert b.mov' })]),
		'Copy 3 items to Holiday: Completed. Convert b.mov: Processing',
	);
});

test('an event takes the place of what was known of its job, or adds it', (t) => {
	const known = [job({ id: 'b' }), job({ id: 'a' })];
	t.deepEqual(
		withJob(known, job({ id: 'a', done: 5 })).map(({ id, done }) => [id, done]),
		[
			['b', 0],
			['a', 5],
		],
	);
	t.deepEqual(
		withJob(known, job({ id: 'c' })).map(({ id }) => id),
		['c', 'b', 'a'],
	);
});
