import type { Entry } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import type { ConversionStatus } from '../src/api/jobs/conversions.js';
import { backgroundNotice } from '../src/features/conversion/backgroundNotice.js';
import {
	conversionRequest,
	newConversion,
	type OverallState,
	overallState,
	previewed,
	withStatus,
} from '../src/features/conversion/conversionState.js';
import { barOf, detailOf, statusOf } from '../src/features/conversion/conversionText.js';
import { refreshAfterConversion } from '../src/features/conversion/refreshAfterConversion.js';

type Status = ConversionStatus['status'];
const clip: Entry = { name: 'clip.mov', path: 'films/clip.mov', type: 'file', size: 1000, mtime: 0 };

const isOverall = (t: ExecutionContext, statuses: Status[], expected: OverallState) =>
	t.is(overallState(statuses.map((status) => ({ status }))), expected);
test('the overall state without conversions is setup', isOverall, [], 'setup');
test(
	'conversions count as processing while one is processing',
	isOverall,
	['completed', 'failed', 'queued', 'processing'],
	'processing',
);
test(
	'conversions count as queued while one is queued and none is processing',
	isOverall,
	['completed', 'failed', 'queued', 'cancelled'],
	'queued',
);
test('ended conversions count as failed if one has failed', isOverall, ['completed', 'cancelled', 'failed'], 'failed');
test(
	'ended conversions count as cancelled if one was cancelled and none has failed',
	isOverall,
	['completed', 'cancelled'],
	'cancelled',
);
test('conversions count as completed if all have completed', isOverall, ['completed', 'completed'], 'completed');

test('a conversion request has the rate factor, the area and the owner of a public file', (t) => {
	const choice = { format: 'webm', quality: 35, deletesOriginal: true } as const;
	const request = { filePath: 'films/clip.mov', outputFormat: 'webm', quality: 18, deleteOriginal: true };
	t.deepEqual(conversionRequest('private', clip, choice), { ...request, type: 'private' });
	t.deepEqual(conversionRequest('public', { ...clip, owner: 'ada' }, choice), {
		...request,
		type: 'public',
		owner: 'ada',
	});
});

const answer = (status: Status): ConversionStatus => ({
	conversionId: '1',
	fileName: 'clip.mov',
	status,
	progress: 40,
	currentFps: 60,
	averageFps: 50,
	eta: '1m2s',
	error: null,
	startTime: null,
	endTime: null,
	outputPath: null,
	phase: null,
	hold: null,
	sizeBefore: null,
	sizeAfter: null,
	deletesOriginal: false,
	isOriginalDeleted: null,
	keptReason: null,
	losses: [],
});

test('a new conversion is queued with no progress until the server reports its status', (t) => {
	const started = newConversion('1', clip, false);
	t.like(withStatus(started, undefined, undefined), { status: 'queued', progress: 0 });
	t.like(withStatus(started, answer('processing'), undefined), {
		status: 'processing',
		progress: 40,
		sizeBefore: 1000,
	});
});

test('a conversion whose cancellation was accepted counts as cancelled, unless it has ended in another way', (t) => {
	const started = newConversion('1', clip, true);
	t.like(withStatus(started, answer('processing'), 'asked'), { status: 'processing', isCancelling: true });
	t.like(withStatus(started, undefined, 'answered'), { status: 'cancelled', isCancelling: false, hasEnded: false });
	t.like(withStatus(started, answer('processing'), 'answered'), { status: 'cancelled', hasEnded: false });
	t.like(withStatus(started, answer('cancelled'), 'answered'), { status: 'cancelled', hasEnded: true });
	t.like(withStatus(started, answer('completed'), 'answered'), { status: 'completed', hasEnded: true });
	t.like(withStatus(started, answer('completed'), 'asked'), { status: 'completed', isCancelling: false });
	t.true(withStatus(started, answer('completed'), undefined).deletesOriginal, 'also where the server does not say so');
});

test('a conversion shows how far it is while it runs, that it is being cancelled, or its state', (t) => {
	const shown = (status: Status, cancellation?: 'asked' | 'answered') =>
		statusOf(withStatus(newConversion('1', clip, false), answer(status), cancellation));
	t.deepEqual([shown('queued'), shown('processing'), shown('failed')], ['Queued', '40%', 'Failed']);
	t.deepEqual([shown('processing', 'asked'), shown('processing', 'answered')], ['Cancelling', 'Cancelled']);
});

test('a waiting conversion says why it waits, and for its turn where nothing else holds it back', (t) => {
	const waits = (hold: ConversionStatus['hold']) =>
		detailOf(withStatus(newConversion('1', clip, false), { ...answer('queued'), hold }, undefined));
	t.is(waits(null), 'Waits for its turn');
	t.is(waits({ reason: 'Its disk is away.', until: null }), 'Its disk is away.');
});

test('a conversion says what it does: it prepares, encodes, and then checks the new file', (t) => {
	const does = (given: Partial<ConversionStatus>) =>
		detailOf(withStatus(newConversion('1', clip, false), { ...answer('processing'), ...given }, undefined));
	t.is(does({ currentFps: null, averageFps: null, eta: null }), 'Preparing');
	t.is(does({}), '60.0 fps · 50.0 fps on average · ETA 1m2s');
	t.is(does({ progress: 100, eta: '0s', phase: 'checking' }), 'Checking');
	t.is(does({ currentFps: null, averageFps: null, eta: null, phase: 'checking' }), 'Checking');
});

test('a completed conversion shows that the original was kept although it was to be deleted', (t) => {
	const detail = (deletesOriginal: boolean, isOriginalDeleted: boolean) =>
		detailOf(
			withStatus(
				newConversion('1', clip, deletesOriginal),
				{ ...answer('completed'), deletesOriginal, isOriginalDeleted },
				undefined,
			),
		);
	t.is(
		detail(true, false),
		'The conversion deleted nothing, since the original was changed, moved or deleted meanwhile',
	);
	const reason = { ...answer('completed'), deletesOriginal: true, isOriginalDeleted: false, keptReason: 'It is odd.' };
	t.is(detailOf(withStatus(newConversion('1', clip, true), reason, undefined)), 'The original was kept. It is odd');
	t.is(detail(true, true), '');
	t.is(detail(false, false), '');
});

test('a completed conversion names its file so that nothing in it turns the direction of letters', (t) => {
	const result = { ...answer('completed'), outputPath: 'to/a\u202E4pm.mkv' };
	t.is(detailOf(withStatus(newConversion('1', clip, false), result, undefined)), 'Saved as a\uFFFD4pm.mkv');
});

test('a completed conversion shows what the new file lacks, for which the original was kept', (t) => {
	const losses = ['1 of 2 video tracks', '1 of 1 subtitles'];
	for (const deletesOriginal of [true, false]) {
		const result = { ...answer('completed'), isOriginalDeleted: false, losses };
		t.is(
			detailOf(withStatus(newConversion('1', clip, deletesOriginal), result, undefined)),
			'The original was kept, since the new file lacks 1 of 2 video tracks, 1 of 1 subtitles',
		);
	}
});

const ended = (status: Status, title: string, detail: object = {}, error: string | null = null) => ({
	...{ status, title: `Convert ${title}`, error },
	detail: { losses: [], ...detail },
});
const deleted = { deletesOriginal: true, isOriginalDeleted: true };
const moved = { deletesOriginal: true, isOriginalDeleted: false };
const lossy = { isOriginalDeleted: false, losses: ['1 of 1 subtitles'] };
const movedSentence = 'The conversion deleted nothing, since the original was changed, moved or deleted meanwhile';
const lossySentence = 'The original was kept, since the new file lacks 1 of 1 subtitles';
const allCompleted = 'All conversions completed successfully! The converted files have been saved.';
const times = (count: number, one: (index: number) => ReturnType<typeof ended>) =>
	Array.from({ length: count }, (_, index) => one(index));

const tells = (
	t: ExecutionContext,
	given: ReturnType<typeof ended>[],
	unknown: number,
	...expected: (string | undefined)[]
) => {
	const notice = backgroundNotice({ ended: given, unknown });
	t.deepEqual([notice?.intent, notice?.message, ...(notice?.detail?.split('\n') ?? [])], expected);
};
test('the background notice of nothing is none', tells, [], 0, undefined, undefined);
test(
	'the background notice of conversions that have all completed says so',
	tells,
	[
		ended('completed', 'a.mov', deleted),
		ended('completed', 'd.mov', { deletesOriginal: false, isOriginalDeleted: false }),
		{ ...ended('completed', 'e.mov'), detail: null as unknown as { losses: never[] } },
	],
	0,
	'success',
	allCompleted,
);
test(
	'the background notice says why the one original was kept',
	tells,
	[ended('completed', 'b.mov', moved)],
	0,
	'warning',
	allCompleted,
	movedSentence,
);
test(
	'the background notice names the one of several that kept its original',
	tells,
	[ended('completed', 'a.mov', deleted), ended('completed', 'b.mov', lossy)],
	0,
	'warning',
	allCompleted,
	`Convert b.mov: ${lossySentence}`,
);
test(
	'the background notice counts the originals that were kept',
	tells,
	[ended('completed', 'a.mov', deleted), ...times(12, (index) => ended('completed', `${index}.mov`, lossy))],
	0,
	'warning',
	allCompleted,
	'12 originals were kept.',
	...['0.mov', '1.mov', '2.mov'].map((name) => `Convert ${name}: ${lossySentence}`),
	'…and 9 more',
);
test(
	'a failure among conversions in the background hides neither the other failures nor the originals that were kept',
	tells,
	[
		ended('failed', 'a.mov', {}, 'The disk is full.'),
		ended('completed', 'b.mov', lossy),
		ended('failed', 'c.mov', {}, 'The source is broken.'),
		ended('completed', 'd.mov', moved),
		ended('cancelled', 'e.mov'),
	],
	1,
	'danger',
	'2 of 6 conversions failed',
	'Convert a.mov: The disk is full.',
	'Convert c.mov: The source is broken.',
	'2 completed. 1 cancelled. 1 no longer known to the server.',
	'2 originals were kept.',
	`Convert b.mov: ${lossySentence}`,
	`Convert d.mov: ${movedSentence}`,
);
test(
	'the background notice of the one conversion that failed says which and why',
	tells,
	[ended('failed', 'a\u202Emov', {}, 'The disk is full.')],
	0,
	'danger',
	'Convert a\uFFFDmov: failed',
	'The disk is full.',
);
test(
	'conversions that were cancelled in the background do not count as completed',
	tells,
	[ended('completed', 'a.mov', deleted), ...times(39, (index) => ended('cancelled', `${index}.mov`))],
	0,
	'none',
	'1 of 40 conversions completed',
	'39 cancelled.',
);
test(
	'the background notice says that all were cancelled',
	tells,
	times(2, (index) => ended('cancelled', `${index}.mov`)),
	0,
	undefined,
	'Conversions were cancelled.',
);
test(
	'the background notice says that how a conversion ended is not known',
	tells,
	[],
	1,
	'warning',
	'The server no longer knows this conversion.',
);

test('three output names are shown and the others are counted', (t) => {
	const videos = (count: number) => Array.from({ length: count }, () => clip);
	t.like(previewed(videos(3)), { more: 0 });
	t.is(previewed(videos(3)).shown.length, 3);
	t.like(previewed(videos(5)), { more: 2 });
	t.is(previewed(videos(5)).shown.length, 3);
});

/** Refreshes with these outcomes, one after another; returns the waits in ms and a message if it gave up. */
async function refreshes(...outcomes: ('seen' | 'not yet' | 'failed')[]): Promise<(number | string)[]> {
	const log: (number | string)[] = [];
	await refreshAfterConversion({
		wait: async (ms) => void log.push(ms),
		onFailed: ({ message }) => log.push(`gave up: ${message}`),
		async refresh() {
			const outcome = outcomes.shift();
			if (outcome === 'failed') throw new Error('HTTP error! status: 500');
			return outcome === 'seen';
		},
	});
	return log;
}

test('after a conversion the folder is refreshed until the new file is listed', async (t) => {
	t.deepEqual(await refreshes('seen'), [2000]);
	t.deepEqual(await refreshes('not yet', 'not yet', 'seen'), [2000, 3000, 4000]);
});

test('after a conversion the folder is refreshed four times at most', async (t) => {
	t.deepEqual(await refreshes('not yet', 'not yet', 'not yet', 'not yet', 'seen'), [2000, 3000, 4000, 5000]);
});

test('a failed refresh after a conversion delays the next one by a second', async (t) => {
	t.deepEqual(await refreshes('failed', 'seen'), [2000, 1000, 3000]);
});

test('a failure of the last refresh after a conversion is reported', async (t) => {
	t.deepEqual(await refreshes('failed', 'failed', 'failed', 'failed'), [
		2000,
		1000,
		3000,
		1000,
		4000,
		1000,
		5000,
		'gave up: HTTP error! status: 500',
	]);
	t.deepEqual(await refreshes('failed', 'failed', 'failed', 'not yet').then((log) => log.length), 7);
});

test('the bar of a conversion is full only when it is completed', (t) => {
	const ended = (status: Status, progress: number) => barOf({ ...newConversion('1', clip, false), status, progress });
	t.is(ended('completed', 99), 1);
	t.is(ended('failed', 100), 0);
	t.is(ended('cancelled', 100), 0);
	t.is(ended('failed', 40), 0.4);
	t.is(ended('processing', 100), 1);
});
