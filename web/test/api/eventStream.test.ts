import test from 'ava';
import { openEventStream } from '../../src/api/events/eventStream.js';

/** The browser's, which is told what the server does. */
class FakeEventSource extends EventTarget {
	static readonly made: FakeEventSource[] = [];
	onopen = () => {};
	onerror = () => {};

	constructor() {
		super();
		FakeEventSource.made.push(this);
	}

	close() {}
}

const nothing = () => {};
const noEvents = { onChanged: nothing, onTrash: nothing, onShared: nothing, onJob: nothing };

/** Opens a stream in such a browser. */
function openFake() {
	Object.assign(globalThis, { EventSource: FakeEventSource });
	const { made } = FakeEventSource;
	made.length = 0;
	const calls: string[] = [];
	const stream = openEventStream('/api/events', {
		...noEvents,
		onReconnected: () => calls.push('reconnected'),
		onDisconnected: (isOpened) => calls.push(isOpened ? 'disconnected' : 'refused'),
	});
	return { stream, made, calls };
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
