import { formatDate, formatTime } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { holdText } from '../src/api/jobs/jobReasons.js';
import { type Job, withJob } from '../src/api/jobs/jobs.js';
import {
	activityItems,
	changeDetail,
	changeTitle,
	receiptDetail,
	receiptTitle,
} from '../src/features/activity/activityItems.js';
import {
	announcement,
	detailText,
	errorText,
	overallFraction,
	progressOf,
	sortJobs,
	statusText,
} from '../src/features/activity/jobText.js';
import { stillCancelling } from '../src/features/activity/useActivity.js';
import { jobWith } from './jobWith.js';

const megabyte = 1024 * 1024;
const showsText = (t: ExecutionContext, given: Partial<Job>, status: string, detail: string) => {
	t.is(statusText(jobWith(given)), status);
	t.is(detailText(jobWith(given)).replaceAll('\u00A0', ' '), detail);
};
test('a queued job shows no details', showsText, { status: 'queued', total: 100, speed: 5 }, 'Queued', '');
test(
	'a job of the administrator’s says whose it is while it can’t be cancelled',
	showsText,
	{ status: 'queued', canCancel: false },
	'Queued',
	'started by the administrator',
);
test('a waiting job says why it is held back, and until when', (t) => {
	t.is(holdText(jobWith()), undefined);
	const reason = 'Such jobs run one after another.';
	t.is(holdText(jobWith({ hold: { reason, until: null } })), reason);
	const until = Date.UTC(2026, 10, 21);
	const text = `${reason} By itself not before ${formatDate(until)} at ${formatTime(until)}.`;
	t.is(holdText(jobWith({ hold: { reason, until } })), text);
});
test('a job without progress shows no details', showsText, {}, 'Processing', '');
test(
	'a job that counts bytes shows bytes, speed and time left',
	showsText,
	{ done: 12 * megabyte, total: 40 * megabyte, speed: 7 * megabyte, timeLeft: 4 },
	'30%',
	'12.0 MB of 40.0 MB · 7.0 MB/s · 4s left',
);
test(
	'a job that counts items shows items, speed and time left',
	showsText,
	{ unit: 'items', done: 1999, total: 20_000, speed: 35.4, timeLeft: 510 },
	'9%',
	'1,999 of 20,000 items · 35 items/s · 8m 30s left',
);
test(
	'a conversion shows frames per second and time left',
	showsText,
	{ unit: 'percent', done: 41.9, total: 100, timeLeft: 62, detail: { currentFps: 61.31, eta: '1m2s' } },
	'41%',
	'61.3 fps · 1m 2s left',
);
test(
	'a conversion that has encoded says that it checks, and not how long it would still encode',
	showsText,
	{ unit: 'percent', done: 100, total: 100, timeLeft: 0, detail: { currentFps: 61.3, eta: '0s', phase: 'checking' } },
	'100%',
	'Checking',
);
test(
	'a completed conversion shows the sizes before and after',
	showsText,
	{ status: 'completed', unit: 'percent', detail: { sizeBefore: 40 * megabyte, sizeAfter: 9 * megabyte } },
	'Completed',
	'40.0 MB → 9.0 MB',
);
test(
	'a completed conversion shows why its original was kept',
	showsText,
	{ status: 'completed', detail: { sizeBefore: 2 * megabyte, sizeAfter: megabyte, losses: ['1 of 2 video tracks'] } },
	'Completed',
	'2.0 MB → 1.0 MB · The original was kept, since the new file lacks 1 of 2 video tracks',
);
test(
	'a completed conversion shows that its original was kept although it was to be deleted',
	showsText,
	{ status: 'completed', detail: { deletesOriginal: true, isOriginalDeleted: false, losses: [] } },
	'Completed',
	'The conversion deleted nothing, since the original was changed, moved or deleted meanwhile',
);
test(
	'a completed conversion does not mention an original that was not to be deleted',
	showsText,
	{ status: 'completed', detail: { deletesOriginal: false, isOriginalDeleted: false, losses: [] } },
	'Completed',
	'',
);
test(
	'a job detail of an unexpected type is not shown',
	showsText,
	{ status: 'failed', detail: { sizeBefore: 'many' } },
	'Failed',
	'',
);

test('the progress bar is full when a job has ended, and indeterminate while its total is unknown', (t) => {
	t.is(progressOf(jobWith({ status: 'completed' })), 1);
	t.is(progressOf(jobWith()), undefined);
	t.is(progressOf(jobWith({ status: 'queued' })), 0);
	t.is(progressOf(jobWith({ done: 30, total: 20 })), 1);
	t.is(
		overallFraction([
			jobWith({ done: 50, total: 100 }),
			jobWith({ status: 'queued' }),
			jobWith({ status: 'completed' }),
		]),
		0.25,
	);
});

test('the progress bar of a job that failed or was cancelled is never full', (t) => {
	for (const status of ['failed', 'cancelled'] as const) {
		t.is(progressOf(jobWith({ status, done: 2, total: 2, unit: 'items' })), 0);
		t.is(progressOf(jobWith({ status, done: 1, total: 2, unit: 'items' })), 0.5);
	}
});

test('a copy or move that left some items out says how many and why, and its bar is not full', (t) => {
	const errors = [{ path: 'b.txt', message: 'No such file or folder: b.txt', code: 'NOT_FOUND' }];
	const partly = jobWith({ kind: 'move', status: 'completed', detail: { done: 3, failed: 1, errors } });
	t.is(errorText(partly), '1 of 4 items failed. No such file or folder: b.txt');
	t.is(progressOf(partly), 0.75);
	t.is(errorText(jobWith({ status: 'completed', detail: { done: 3, failed: 1, errors: [] } })), '1 of 4 items failed.');
	t.is(errorText(jobWith({ status: 'completed', detail: { done: 4, failed: 0, errors: [] } })), undefined);
	t.is(errorText(jobWith({ status: 'failed', error: 'The disk is full.' })), 'The disk is full.');
	t.is(errorText(jobWith({ kind: 'convert', status: 'completed', detail: { done: 3, failed: 1, errors } })), undefined);
});

test('running jobs are listed first, then queued ones, then ended ones from the latest', (t) => {
	const ids = sortJobs([
		jobWith({ id: 'waits later', status: 'queued', createdAt: 5 }),
		jobWith({ id: 'ended first', status: 'failed', endTime: 7 }),
		jobWith({ id: 'waits', status: 'queued', createdAt: 4 }),
		jobWith({ id: 'ended last', status: 'completed', endTime: 9 }),
		jobWith({ id: 'runs', createdAt: 3 }),
	]).map(({ id }) => id);
	t.deepEqual(ids, ['runs', 'waits', 'waits later', 'ended last', 'ended first']);
});

test('a screen reader is notified of changes of status, not of each step', (t) => {
	const before = [
		jobWith({ id: 'a', done: 1, total: 9 }),
		jobWith({ id: 'b', status: 'queued', title: 'Convert b.mov' }),
	];
	t.is(announcement(before, [jobWith({ id: 'a', done: 2, total: 9 }), before[1] as Job]), '');
	t.is(
		announcement(before, [jobWith({ id: 'a', status: 'completed' }), jobWith({ id: 'b', title: 'Convert b.mov' })]),
		'Copy 3 items to Holiday: Completed. Convert b.mov: Processing',
	);
});

test('a job that was cancelled here and retried on another device is not being cancelled any more', (t) => {
	const running = [jobWith({ id: 'a' }), jobWith({ id: 'b', status: 'queued' })];
	const asked = new Set(['a', 'b']);
	t.is(stillCancelling(asked, running), asked, 'a new set would render for ever');
	const oneEnded = stillCancelling(asked, [jobWith({ id: 'a', status: 'cancelled' }), running[1] as Job]);
	t.deepEqual([...oneEnded], ['b']);
	t.deepEqual([...stillCancelling(oneEnded, running)], ['b']);
	t.is(stillCancelling(asked, []).size, 0);
});

test('a job event replaces the job in the list or adds it', (t) => {
	const jobs = [jobWith({ id: 'b' }), jobWith({ id: 'a' })];
	t.deepEqual(
		withJob(jobs, jobWith({ id: 'a', done: 5 })).map(({ id, done }) => [id, done]),
		[
			['b', 0],
			['a', 5],
		],
	);
	t.deepEqual(
		withJob(jobs, jobWith({ id: 'c' })).map(({ id }) => id),
		['c', 'b', 'a'],
	);
});

test('what others have sent and changed is among the jobs that have ended, the latest first', (t) => {
	const receipt = { share: 's', title: 'Party', sender: 'Grace', files: 2, bytes: 3 * megabyte, begunAt: 0 };
	const counts = { folder: 'Team', member: 'bob', added: 1, changed: 0, removed: 0, begunAt: 0 };
	const items = activityItems(
		[
			jobWith({ id: 'new', status: 'completed', endTime: 300 }),
			jobWith({ id: 'old', status: 'failed', endTime: 100 }),
			jobWith({ id: 'running', status: 'processing', endTime: null }),
		],
		[
			{ ...receipt, id: 'late', endedAt: 400 },
			{ ...receipt, id: 'early', endedAt: 200 },
		],
		[{ ...counts, id: 'between', endedAt: 350 }],
	);
	t.deepEqual(
		items.map(({ id }) => id),
		['job-running', 'received-late', 'changed-between', 'job-new', 'received-early', 'job-old'],
	);
});

test('what a member has changed says who it was, how much and in which folder', (t) => {
	const counts = { member: 'bob', added: 0, changed: 0, removed: 0 };
	t.is(changeTitle({ ...counts, added: 3 }), 'bob added 3 items');
	t.is(
		changeTitle({ ...counts, added: 2, changed: 1, removed: 4 }),
		'bob added 2 items, changed 1 item, deleted 4 items',
	);
	const endedAt = Date.UTC(2026, 10, 21);
	t.is(changeDetail({ folder: 'Team', endedAt }), `In Team · ${formatDate(endedAt)} at ${formatTime(endedAt)}`);
});

test('what a share has received says who has sent it, where a name was asked for', (t) => {
	t.is(receiptTitle({ sender: 'Grace', files: 2 }), 'Grace sent 2 files');
	t.is(receiptTitle({ sender: null, files: 1 }), 'Received 1 file');
	const endedAt = Date.UTC(2026, 10, 21);
	const when = `${formatDate(endedAt)} at ${formatTime(endedAt)}`;
	t.is(receiptDetail({ title: 'Party', bytes: 3 * megabyte, endedAt }), `By the share Party · 3.0 MB · ${when}`);
});
