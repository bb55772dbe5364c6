import { Failure, rootPath } from '@stowage/rules';
import test from 'ava';
import type { Transport, Upload } from '../src/api/uploads.js';
import { runUploads } from '../src/features/uploadQueue/runUploads.js';
import {
	emptyQueue,
	type UploadQueueAction,
	type UploadQueueState,
	uploadQueueReducer,
} from '../src/features/uploadQueue/uploadQueue.js';

interface Run {
	state: UploadQueueState;
	uploads: Upload[];
	actions: UploadQueueAction[];
	told: string[];
	sessionEnded: boolean;
}

/** Runs a queue of three files over a transport of the test's own. */
async function run(transport: Transport, options: { isVisitor?: boolean; signal?: AbortSignal } = {}): Promise<Run> {
	const result: Run = { state: emptyQueue, uploads: [], actions: [], told: [], sessionEnded: false };
	let time = 0;
	const dispatch = (action: UploadQueueAction) => {
		result.actions.push(action);
		result.state = uploadQueueReducer(result.state, action);
	};
	const files = ['a.txt', 'b.txt', 'c.txt'].map((name) => new File(['0123456789'], name));
	dispatch({ type: 'added', files, target: { area: 'private', directory: rootPath }, isPublic: false });
	await runUploads(result.state.items, {
		isVisitor: options.isVisitor ?? false,
		signal: options.signal ?? new AbortController().signal,
		transport: (upload, onProgress, signal) => {
			result.uploads.push(upload);
			return transport(upload, onProgress, signal);
		},
		dispatch,
		onUploaded: (area, directory) => result.told.push(`${area}:${directory}`),
		onSessionEnded: () => {
			result.sessionEnded = true;
		},
		describe: (error) => (error as Error).message,
		now: () => {
			time += 10;
			return time;
		},
	});
	return result;
}

const statuses = ({ state }: Run) => state.items.map(({ status }) => status);
const succeed: Transport = async (upload) => ({ name: upload.fileName });

test('files go one after another, each under its whole name', async (t) => {
	let running = 0;
	const result = await run(async (upload) => {
		t.is(++running, 1);
		await new Promise((resolve) => setTimeout(resolve, 5));
		running--;
		return { name: upload.fileName };
	});
	t.deepEqual(
		result.uploads.map(({ fileName }) => fileName),
		['a.txt', 'b.txt', 'c.txt'],
	);
	t.deepEqual(statuses(result), ['completed', 'completed', 'completed']);
	t.true(result.state.hasSucceeded);
});

test('a refused file does not hold up the others', async (t) => {
	const result = await run(async (upload) => {
		if (upload.fileName === 'b.txt') throw new Failure('tooLarge', 'Too large');
		return { name: upload.fileName };
	});
	t.deepEqual(statuses(result), ['completed', 'error', 'completed']);
	t.is(result.state.failure, 'Too large');
	t.false(result.state.hasSucceeded);
});

test('a lost server ends the run and the rest waits', async (t) => {
	const result = await run(async () => {
		throw new Failure('unavailable', 'Network error during upload');
	});
	t.is(result.uploads.length, 1);
	t.deepEqual(statuses(result), ['error', 'pending', 'pending']);
});

test('an ended session is no fault of the file: everything waits as it is', async (t) => {
	const result = await run(async () => {
		throw new Failure('notSignedIn', 'Sign in first.');
	});
	t.true(result.sessionEnded);
	t.deepEqual(statuses(result), ['pending', 'pending', 'pending']);
	t.is(result.state.failure, undefined);
});

test('after a cancel nothing more is sent or said', async (t) => {
	const controller = new AbortController();
	const result = await run(
		async () => {
			controller.abort();
			throw controller.signal.reason;
		},
		{ signal: controller.signal },
	);
	t.is(result.uploads.length, 1);
	t.is(result.state.failure, undefined);
});

test('progress is shown now and then, and always when the last byte is sent', async (t) => {
	const result = await run(async (upload, onProgress) => {
		if (upload.fileName === 'a.txt') for (let byte = 1; byte <= 10; byte++) onProgress(byte);
		return { name: upload.fileName };
	});
	const shown = result.actions.flatMap((action) => (action.type === 'progressed' ? [action.uploadedSize] : []));
	t.true(shown.length < 10);
	t.is(shown.at(-1), 10);
	t.is(result.state.progress, undefined);
});

test('the listing hears of many uploads at once, and of the last ones at the end', async (t) => {
	t.deepEqual((await run(succeed)).told, ['private:', 'private:']);
});

test('a visitor uploads to the public area whatever an item says', async (t) => {
	const result = await run(succeed, { isVisitor: true });
	t.true(result.uploads.every(({ isVisitor }) => isVisitor));
	t.is(result.told[0], 'public:');
});
