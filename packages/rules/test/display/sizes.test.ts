import test from 'ava';
import fc from 'fast-check';
import { formatDownloadSize, formatListSize, formatQueueSize } from '../../src/index.js';

const list = test.macro({
	exec: (t, bytes: number, text: string) => t.is(formatListSize(bytes), text),
	title: (_, bytes, text) => `the list shows ${bytes} bytes as ${text}`,
});
const kib = 1024;
const mib = 1024 * kib;
const gib = 1024 * mib;
const tib = 1024 * gib;
test(list, 0, '0 B');
test(list, 1023, '1023 B');
test(list, 1024, '1.0 KB');
test(list, 1536, '1.5 KB');
test(list, Math.round(1023.9 * kib), '1023.9 KB');
test(list, Math.round(1023.99 * kib), '1.0 MB');
test(list, mib - 1, '1.0 MB');
test(list, mib, '1.0 MB');
test(list, gib - 1, '1.0 GB');
test(list, 2.25 * gib, '2.3 GB');
test(list, tib, '1.0 TB');
test(list, 5000 * tib, '5000.0 TB');

const download = test.macro({
	exec: (t, bytes: number, text: string) => t.is(formatDownloadSize(bytes), text),
	title: (_, bytes, text) => `the download dialog shows ${bytes} bytes as ${text}`,
});
test(download, 0, '0 Bytes');
test(download, 1, '1 Byte');
test(download, 1023, '1023 Bytes');
test(download, 1024, '1.00 KB');
test(download, 1.25 * mib, '1.25 MB');
test(download, mib - 1, '1.00 MB');
test(download, tib, '1024.00 GB');

const queue = test.macro({
	exec: (t, bytes: number, text: string) => t.is(formatQueueSize(bytes), text),
	title: (_, bytes, text) => `the queue shows ${bytes} bytes as ${text}`,
});
test(queue, 0, '0 B');
test(queue, 999, '999 B');
test(queue, 1000, '1.0 kB');
test(queue, 999_949, '999.9 kB');
test(queue, 999_950, '1.0 MB');
test(queue, 1_500_000, '1.5 MB');
test(queue, 2_000_000_000_000, '2000.0 GB');

test('a size below the largest unit is a number below 1024 in the list and below 1000 in the queue', (t) => {
	fc.assert(
		fc.property(fc.nat({ max: tib - gib }), (bytes) => {
			const inList = Number.parseFloat(formatListSize(bytes));
			const inQueue = Number.parseFloat(formatQueueSize(Math.floor(bytes / 1100)));
			return inList < 1024 && inQueue < 1000;
		}),
	);
	t.pass();
});
