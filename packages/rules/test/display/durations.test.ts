import test from 'ava';
import { formatDuration, formatSpeed, remainingSeconds } from '../../src/index.js';

const duration = test.macro({
	exec: (t, seconds: number, text: string) => t.is(formatDuration(seconds), text),
	title: (_, seconds, text) => `${seconds} seconds are shown as ${text}`,
});
test(duration, 0, '0s');
test(duration, 59, '59s');
test(duration, 59.4, '59s');
test(duration, 59.6, '1m 0s');
test(duration, 60, '1m 0s');
test(duration, 125, '2m 5s');
test(duration, 119.7, '2m 0s');
test(duration, 7322, '122m 2s');

const speed = test.macro({
	exec: (t, bytesPerSecond: number, text: string) => t.is(formatSpeed(bytesPerSecond), text),
	title: (_, bytesPerSecond, text) => `${bytesPerSecond} bytes per second are shown as ${text}`,
});
test(speed, 0, '0.0 KB/s');
test(speed, 512 * 1024, '512.0 KB/s');
test(speed, 1024 * 1024 - 1, '1.0 MB/s');
test(speed, 1.5 * 1024 * 1024, '1.5 MB/s');
test(speed, 3000 * 1024 * 1024, '3000.0 MB/s');

test('the remaining time is rounded up to whole seconds', (t) => {
	t.is(remainingSeconds(1000, 300), 4);
	t.is(remainingSeconds(1, 1000), 1);
});

test('the remaining time of no bytes is zero at any speed', (t) => {
	t.is(remainingSeconds(0, undefined), 0);
	t.is(remainingSeconds(0, 0), 0);
});

test('the remaining time is undefined without a speed', (t) => {
	t.is(remainingSeconds(1000, undefined), undefined);
	t.is(remainingSeconds(1000, 0), undefined);
});
