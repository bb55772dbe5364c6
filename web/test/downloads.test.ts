import type { Entry } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { downloadQuestion, knownSize, mayBeZip, mustBeZip } from '../src/features/downloads/downloadChoice.js';
import { applyTicketEvent, noProgress, type ZipProgress, zipNotice } from '../src/features/downloads/zipNotice.js';

type Chosen = Pick<Entry, 'type' | 'size'>;
const file: Chosen = { type: 'file', size: 1000 };
const folder: Chosen = { type: 'directory', size: 0 };

const asks = (
	t: ExecutionContext,
	entries: Chosen[],
	question: string,
	zip: 'never' | 'offered' | 'forced',
	size: number | undefined,
) => {
	t.is(downloadQuestion(entries), question);
	t.is(mayBeZip(entries), zip !== 'never');
	t.is(mustBeZip(entries), zip === 'forced');
	t.is(knownSize(entries), size);
};
test('one file', asks, [file], 'Download this file?', 'never', 1000);
test('several files', asks, [file, file, file], 'Download 3 files?', 'offered', 3000);
test('one folder', asks, [folder], 'Download this folder as ZIP?', 'forced', undefined);
test('a folder and a file', asks, [folder, file], 'Download 2 files?', 'forced', undefined);

const megabyte = 1024 * 1024;
const news = (sent: number, state: 'waiting' | 'sending') => ({ ticket: 't', sent, size: 10 * megabyte, state });
const after = (...samples: [at: number, sent: number, state: 'waiting' | 'sending'][]) =>
	samples.reduce<ZipProgress>(
		(progress, [at, sent, state]) => applyTicketEvent(progress, news(sent, state), at),
		noProgress,
	);

const says = (t: ExecutionContext, progress: ZipProgress, part: number, detail: string) => {
	const notice = zipNotice('files.zip', 10 * megabyte, progress);
	t.like(notice, { message: 'Downloading files.zip', progress: part });
	// Lines break only between the parts.
	t.is(notice.detail?.replaceAll('\u00A0', ' '), detail);
};
test('before the first byte the bar waits for the browser', says, noProgress, 0, 'Waiting for the browser…');
test('with the first byte there is no speed yet', says, after([0, megabyte, 'sending']), 0.1, '1.00 MB of 10.00 MB');
test(
	'then there is, and how long it will take',
	says,
	after([0, megabyte, 'sending'], [1000, 3 * megabyte, 'sending']),
	0.3,
	'3.00 MB of 10.00 MB · 2.0 MB/s · 4s left',
);
test(
	'what was interrupted stands where it stopped',
	says,
	after([0, megabyte, 'sending'], [1000, 3 * megabyte, 'sending'], [2000, 3 * megabyte, 'waiting']),
	0.3,
	'3.00 MB of 10.00 MB',
);
test(
	'what goes on is measured anew',
	says,
	after(
		[0, 0, 'sending'],
		[1000, megabyte, 'waiting'],
		[90_000, 2 * megabyte, 'sending'],
		[91_000, 3 * megabyte, 'sending'],
	),
	0.3,
	'3.00 MB of 10.00 MB · 1.0 MB/s · 7s left',
);
test('an empty archive is no part of nothing', (t) => {
	t.is(zipNotice('empty.zip', 0, noProgress).progress, 0);
});
