import test from 'ava';
import { FolderRefresh } from '../../src/api/events/FolderRefresh.js';

/** A folder that takes `takes` ms to read, in a time of its own. */
function folder(takes = 50) {
	let now = 0;
	let readings = 0;
	let isReading = false;
	const state = { isChanging: false };
	const timers = new Map<number, { at: number; action: () => void }>();
	let nextTimer = 0;
	const later = (action: () => void, ms: number) => {
		const id = nextTimer++;
		timers.set(id, { at: now + ms, action });
		return () => void timers.delete(id);
	};
	const read = () => {
		isReading = true;
		readings++;
		refresh.onReadingStarted();
		later(() => {
			isReading = false;
			refresh.onReadingEnded('success');
		}, takes);
	};
	const refresh = new FolderRefresh({
		read,
		isReading: () => isReading,
		isChanging: () => state.isChanging,
		now: () => now,
		later,
	});
	return {
		refresh,
		state,
		read,
		readings: () => readings,
		pass(ms: number) {
			for (const end = now + ms; ; ) {
				const [due] = [...timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at);
				if (due === undefined) {
					now = end;
					return;
				}
				timers.delete(due[0]);
				now = due[1].at;
				due[1].action();
			}
		},
	};
}

test('news is read within half a second', (t) => {
	const { refresh, readings, pass } = folder();
	refresh.onNews();
	pass(500);
	t.is(readings(), 1);
	pass(60_000);
	t.is(readings(), 1);
});

test('what the page reads by itself after a change of its own answers the news of it', (t) => {
	const { refresh, readings, read, pass } = folder();
	refresh.onNews();
	pass(20);
	read();
	pass(60_000);
	t.is(readings(), 1);
});

test('news that comes while the folder is read leads to one more reading', (t) => {
	const { refresh, readings, pass } = folder(500);
	refresh.onNews();
	pass(200);
	t.is(readings(), 1);
	for (let n = 0; n < 10; n++) refresh.onNews();
	pass(60_000);
	t.is(readings(), 2);
});

test('news without end leaves a pause as long as a reading between readings, and the last is read', (t) => {
	const { refresh, readings, pass } = folder(1000);
	for (let n = 0; n < 60; n++) {
		refresh.onNews();
		pass(500);
	}
	t.true(readings() >= 13 && readings() <= 16, `${readings()} readings in 30 s`);
	const before = readings();
	refresh.onNews();
	pass(10_000);
	t.true(readings() > before);
});

test('while the page changes things it waits for the end, but not for long', (t) => {
	const { refresh, state, readings, pass } = folder();
	state.isChanging = true;
	refresh.onNews();
	pass(1000);
	t.is(readings(), 0);
	pass(1000);
	t.is(readings(), 1);
});

test('a server that was away for long is asked again soon', (t) => {
	const { refresh, readings, pass } = folder();
	refresh.onReadingStarted();
	pass(20_000);
	refresh.onReadingEnded('error');
	refresh.onNews();
	pass(500);
	t.is(readings(), 1);
	refresh.onReadingStarted();
	pass(20_000);
	refresh.onReadingRetried();
	pass(50);
	refresh.onReadingEnded('success');
	refresh.onNews();
	pass(500);
	t.is(readings(), 2);
});

test('nothing is read after the end', (t) => {
	const { refresh, readings, pass } = folder();
	refresh.onNews();
	refresh.stop();
	pass(60_000);
	t.is(readings(), 0);
});
