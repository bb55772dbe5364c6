import { rootPath } from '@stowage/rules';
import test from 'ava';
import type { Transport } from '../../src/api/uploads/upload.js';
import type { ShareDestination } from '../../src/features/uploadQueue/destination.js';
import { useRunner } from '../../src/features/uploadQueue/running/useRunner.js';
import { emptyQueue, uploadQueueReducer } from '../../src/features/uploadQueue/uploadQueue.js';
import { renderHook } from '../renderHook.js';

/** A queue of one file for a share, whose guest asks for no session. */
function queueWith(transport: Transport) {
	const discarded: string[] = [];
	const destination: ShareDestination = {
		kind: 'share',
		transport,
		discard: async ({ fileName }) => void discarded.push(fileName),
		isReady: () => true,
		sender: () => undefined,
		onReceived: () => {},
	};
	const state = uploadQueueReducer(emptyQueue, {
		type: 'added',
		files: [{ file: new File(['a'], 'a.txt'), folder: rootPath }],
		target: { area: 'private', directory: rootPath },
		isPublic: false,
		username: undefined,
	});
	const { result: runner } = renderHook(() => useRunner(state, () => {}, destination));
	return { runner, discarded, id: state.items[0]?.id ?? 0 };
}

const untilAborted: Transport = (_upload, _listener, signal) =>
	new Promise((_, reject) => {
		// Where its code is still being loaded, it begins after that.
		if (signal.aborted) reject(signal.reason);
		signal.addEventListener('abort', () => reject(signal.reason));
	});

test('a file that waits after its run was paused leaves nothing on the server once it is removed', async (t) => {
	const { runner, discarded, id } = queueWith(untilAborted);
	const running = runner.start();
	await new Promise((resolve) => setImmediate(resolve));
	await runner.signedOut('ada');
	await running;
	t.deepEqual(discarded, []);
	runner.remove(id);
	t.deepEqual(discarded, ['a.txt']);
});

test('a file that was never begun, or is there, leaves nothing to be discarded', async (t) => {
	const { runner, discarded, id } = queueWith(async ({ fileName }) => ({ name: fileName, isVerified: true }));
	runner.remove(id);
	await runner.start();
	runner.cancel();
	t.deepEqual(discarded, []);
});
