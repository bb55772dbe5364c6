import test from 'ava';
import { FolderRefresh } from '../../src/api/events/FolderRefresh.js';

/** A folder whose fetch takes `takes` ms of a fake clock. */
function folder(takes = 50) {
	let now = 0;
	let fetches = 0;
	let isFetching = false;
	const state = { isMutating: false };
	const timers = new Map<number, { at: number; action: () => void }>();
	let nextTimer = 0;
	const schedule = (action: () => void, ms: number) => {
		const id = nextTimer++;
		timers.set(id, { at: now + ms, action });
		return () => void timers.delete(id);
	};
	const refetch = () => {
		isFetching = true;
		fetches++;
		refresh.onFetchStarted();
		schedule(() => {
			isFetching = false;
			refresh.onFetchEnded('success');
		}, takes);
	};
	const refresh = new FolderRefresh({
		refetch,
		isFetching: () => isFetching,
		isMutating: () => state.isMutating,
		now: () => now,
		schedule,
	});
	return {
		refresh,
		state,
		refetch,
		fetches: () => fetches,
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

test('a folder is fetched again within half a second of a change event', (t) => {
	const { refresh, fetches, pass } = folder();
	refresh.onChangeEvent();
	pass(500);
	t.is(fetches(), 1);
	pass(60_000);
	t.is(fetches(), 1);
});

test('a fetch that the page makes after its own change covers the event of that change', (t) => {
	const { refresh, fetches, refetch, pass } = folder();
	refresh.onChangeEvent();
	pass(20);
	refetch();
	pass(60_000);
	t.is(fetches(), 1);
});

test('events during a fetch lead to one more fetch', (t) => {
	const { refresh, fetches, pass } = folder(500);
	refresh.onChangeEvent();
	pass(200);
	t.is(fetches(), 1);
	for (let n = 0; n < 10; n++) refresh.onChangeEvent();
	pass(60_000);
	t.is(fetches(), 2);
});

test('steady events leave a pause as long as a fetch between fetches, and the last event leads to a fetch', (t) => {
	const { refresh, fetches, pass } = folder(1000);
	for (let n = 0; n < 60; n++) {
		refresh.onChangeEvent();
		pass(500);
	}
	t.true(fetches() >= 13 && fetches() <= 16, `${fetches()} fetches in 30 s`);
	const before = fetches();
	refresh.onChangeEvent();
	pass(10_000);
	t.true(fetches() > before);
});

test('a fetch waits until a change by the page has ended, for two seconds at most', (t) => {
	const { refresh, state, fetches, pass } = folder();
	state.isMutating = true;
	refresh.onChangeEvent();
	pass(1000);
	t.is(fetches(), 0);
	pass(1000);
	t.is(fetches(), 1);
});

test('a folder is fetched soon after a long outage', (t) => {
	const { refresh, fetches, pass } = folder();
	refresh.onFetchStarted();
	pass(20_000);
	refresh.onFetchEnded('error');
	refresh.onChangeEvent();
	pass(500);
	t.is(fetches(), 1);
	refresh.onFetchStarted();
	pass(20_000);
	refresh.onFetchRetried();
	pass(50);
	refresh.onFetchEnded('success');
	refresh.onChangeEvent();
	pass(500);
	t.is(fetches(), 2);
});

test('a stopped folder is not fetched again', (t) => {
	const { refresh, fetches, pass } = folder();
	refresh.onChangeEvent();
	refresh.stop();
	pass(60_000);
	t.is(fetches(), 0);
});
