import test from 'ava';
import { openEventStream } from '../../src/api/events/eventStream.js';

/** The browser's, which is told what the server does. */
class FakeEventSource extends EventTarget {
	static readonly CLOSED = 2;
	static readonly made: FakeEventSource[] = [];
	readyState = 0;
	isClosed = false;
	onopen = () => {};
	onerror = () => {};

	constructor(readonly url: string) {
		super();
		FakeEventSource.made.push(this);
	}

	/** The server answers with an error, instead of no answer at all. */
	refuse() {
		this.readyState = FakeEventSource.CLOSED;
		this.onerror();
	}

	close() {
		this.isClosed = true;
	}
}

const nothing = () => {};
const noEvents = { onChanged: nothing, onTrash: nothing, onShared: nothing, onJob: nothing };

/** Opens a stream in such a browser. */
function openFake(...urls: string[]) {
	Object.assign(globalThis, { EventSource: FakeEventSource });
	const { made } = FakeEventSource;
	made.length = 0;
	const calls: string[] = [];
	const folder = { isMissing: true };
	const stream = openEventStream(urls.length > 0 ? urls : ['/api/events'], {
		...noEvents,
		onChanged: () => calls.push('changed'),
		onReconnected: (isOfFolder) => calls.push(isOfFolder ? 'reconnected' : 'reconnected above'),
		onDisconnected: (isOpened) => calls.push(isOpened ? 'disconnected' : 'refused'),
		isMissing: () => folder.isMissing,
	});
	return { stream, made, calls, folder };
}

async function untilMade(made: readonly unknown[], count: number): Promise<void> {
	while (made.length < count) await new Promise((resolve) => setTimeout(resolve, 10));
}

test.serial('each attempt that fails is reported, since no event says what changes meanwhile', async (t) => {
	const { stream, made, calls } = openFake();
	t.teardown(() => stream.close());
	made[0]?.onopen();
	t.deepEqual(calls, []);
	made[0]?.onerror();
	await untilMade(made, 2);
	made[1]?.onerror();
	t.deepEqual(calls, ['disconnected', 'refused']);
});

test.serial('a stream that waits for its next attempt connects at once when it is told to, and only then', (t) => {
	const { stream, made, calls } = openFake();
	t.teardown(() => stream.close());
	stream.retry();
	t.is(made.length, 1);
	made[0]?.onerror();
	stream.retry();
	t.is(made.length, 2);
	stream.retry();
	made[1]?.onopen();
	stream.retry();
	t.is(made.length, 2);
	t.deepEqual(calls, ['refused', 'reconnected']);
});

test.serial('a folder that is missing is listened to from the nearest one above it, until it is there', async (t) => {
	const { stream, made, calls } = openFake('a/b/c', 'a/b', 'a', '');
	t.teardown(() => stream.close());
	const urls = () => made.map(({ url }) => url);
	const open = () => made.filter(({ isClosed }) => !isClosed).map(({ url }) => url);
	made[0]?.refuse();
	made[1]?.refuse();
	t.deepEqual(urls(), ['a/b/c', 'a/b', 'a']);
	made[2]?.onopen();
	t.deepEqual(calls, ['refused', 'reconnected above']);
	// It may have appeared before that one was open.
	await untilMade(made, 4);
	made[3]?.refuse();
	made[4]?.refuse();
	t.deepEqual(urls().slice(3), ['a/b/c', 'a/b'], 'none is asked again whose stream is open');
	t.deepEqual(open(), ['a']);
	// A folder between appears, and during that attempt there is another event.
	made[2]?.dispatchEvent(new Event('changed'));
	await untilMade(made, 6);
	made[2]?.dispatchEvent(new Event('changed'));
	made[5]?.refuse();
	made[6]?.onopen();
	t.deepEqual(open(), ['a/b']);
	await untilMade(made, 8);
	made[7]?.refuse();
	made[6]?.dispatchEvent(new Event('changed'));
	await untilMade(made, 9);
	const before = ['refused', 'reconnected above', 'refused', 'refused', 'refused'];
	t.deepEqual(calls, before, 'the folder itself has had no event');
	made[8]?.onopen();
	t.deepEqual(open(), ['a/b/c']);
	made[8]?.dispatchEvent(new Event('changed'));
	t.deepEqual(calls, [...before, 'reconnected', 'changed']);
});

test.serial('where a folder is refused that is not known to be missing, none above it is asked', async (t) => {
	const { stream, made, folder } = openFake('a', '');
	t.teardown(() => stream.close());
	folder.isMissing = false;
	made[0]?.refuse();
	t.is(made.length, 1);
	folder.isMissing = true;
	await untilMade(made, 2);
	made[1]?.refuse();
	t.deepEqual(
		made.map(({ url }) => url),
		['a', 'a', ''],
	);
});

test.serial('after an event in a folder far above a missing one two are tried, however many are between', async (t) => {
	const { stream, made } = openFake('a/b/c/d', 'a/b/c', 'a/b', 'a', '');
	t.teardown(() => stream.close());
	for (let at = 0; at < 4; at++) made[at]?.refuse();
	made[4]?.onopen();
	await untilMade(made, 6);
	for (let at = 5; at < 9; at++) made[at]?.refuse();
	t.is(made.length, 9, 'any of them may have appeared before');
	made[4]?.dispatchEvent(new Event('changed'));
	await untilMade(made, 10);
	made[9]?.refuse();
	made[10]?.refuse();
	t.deepEqual(
		made.slice(9).map(({ url }) => url),
		['a/b/c/d', 'a'],
	);
});

test.serial('where the server does not answer, no folder above is asked', async (t) => {
	const { stream, made, calls } = openFake('a', '');
	t.teardown(() => stream.close());
	made[0]?.onerror();
	t.is(made.length, 1);
	await untilMade(made, 2);
	made[1]?.onopen();
	t.deepEqual(
		made.map(({ url }) => url),
		['a', 'a'],
	);
	t.deepEqual(calls, ['refused', 'reconnected']);
});

test.serial('a stream of a folder above that is lost is opened again for the folder itself first', async (t) => {
	const { stream, made, calls } = openFake('a', '');
	t.teardown(() => stream.close());
	made[0]?.refuse();
	made[1]?.onopen();
	await untilMade(made, 3);
	made[1]?.onerror();
	t.true(made[2]?.isClosed);
	await untilMade(made, 4);
	made[3]?.onopen();
	t.is(made[3]?.url, 'a');
	t.deepEqual(calls, ['refused', 'reconnected above', 'disconnected', 'reconnected']);
});
