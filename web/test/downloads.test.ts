import type { Entry } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { downloadQuestion, knownSize, mayBeZip, mustBeZip } from '../src/features/downloads/downloadChoice.js';
import { applyTicketEvent, noProgress, type ZipProgress, zipNotice } from '../src/features/downloads/zipNotice.js';

type Chosen = Pick<Entry, 'type' | 'size'>;
const file: Chosen = { type: 'file', size: 1000 };
const folder: Chosen = { type: 'directory', size: 0 };

const hasQuestion = (
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
test('one file is never downloaded as a ZIP', hasQuestion, [file], 'Download this file?', 'never', 1000);
test('several files may be downloaded as a ZIP', hasQuestion, [file, file, file], 'Download 3 files?', 'offered', 3000);
test(
	'a folder is always downloaded as a ZIP of unknown size',
	hasQuestion,
	[folder],
	'Download this folder as ZIP?',
	'forced',
	undefined,
);
test(
	'a folder and a file are always downloaded as a ZIP of unknown size',
	hasQuestion,
	[folder, file],
	'Download 2 files?',
	'forced',
	undefined,
);

const megabyte = 1024 * 1024;
const ticketEvent = (sent: number, state: 'waiting' | 'sending') => ({ ticket: 't', sent, size: 10 * megabyte, state });
const after = (...samples: [at: number, sent: number, state: 'waiting' | 'sending'][]) =>
	samples.reduce<ZipProgress>(
		(progress, [at, sent, state]) => applyTicketEvent(progress, ticketEvent(sent, state), at),
		noProgress,
	);

const showsNotice = (t: ExecutionContext, progress: ZipProgress, part: number, detail: string) => {
	const notice = zipNotice('files.zip', 10 * megabyte, progress);
	t.like(notice, { message: 'Downloading files.zip', progress: part });
	// Lines break only between the parts.
	t.is(notice.detail?.replaceAll('\u00A0', ' '), detail);
};
test(
	'the notice of an archive waits for the browser before the first byte',
	showsNotice,
	noProgress,
	0,
	'Waiting for the browser…',
);
test(
	'the notice of an archive shows bytes without a speed at the first event',
	showsNotice,
	after([0, megabyte, 'sending']),
	0.1,
	'1.00 MB of 10.00 MB',
);
test(
	'the notice of an archive shows speed and time left from the second event on',
	showsNotice,
	after([0, megabyte, 'sending'], [1000, 3 * megabyte, 'sending']),
	0.3,
	'3.00 MB of 10.00 MB · 2.0 MB/s · 4s left',
);
test(
	'the notice of an interrupted archive keeps its progress and shows no speed',
	showsNotice,
	after([0, megabyte, 'sending'], [1000, 3 * megabyte, 'sending'], [2000, 3 * megabyte, 'waiting']),
	0.3,
	'3.00 MB of 10.00 MB',
);
test(
	'the speed of a resumed archive is measured from its continuation',
	showsNotice,
	after(
		[0, 0, 'sending'],
		[1000, megabyte, 'waiting'],
		[90_000, 2 * megabyte, 'sending'],
		[91_000, 3 * megabyte, 'sending'],
	),
	0.3,
	'3.00 MB of 10.00 MB · 1.0 MB/s · 7s left',
);
test('the notice of an empty archive has a progress of 0', (t) => {
	t.is(zipNotice('empty.zip', 0, noProgress).progress, 0);
});
