import { candidateNames, Failure, parsePath, rootPath, type StoragePath } from '@stowage/rules';
import test from 'ava';
import { smallFileSize, type Transport, type Upload } from '../../src/api/uploads/upload.js';
import type { NameState } from '../../src/features/uploadQueue/conflicts/conflicts.js';
import { fullName, type IfExists } from '../../src/features/uploadQueue/queueItem.js';
import { batchActions } from '../../src/features/uploadQueue/running/batchActions.js';
import { describeFailure } from '../../src/features/uploadQueue/running/describeFailure.js';
import { paused, runUploads } from '../../src/features/uploadQueue/running/runUploads.js';
import { UploadAttempts } from '../../src/features/uploadQueue/running/UploadAttempts.js';
import type { SignInWait } from '../../src/features/uploadQueue/running/waitForSignIn.js';
import {
	emptyQueue,
	type UploadQueueAction,
	type UploadQueueState,
	uploadQueueReducer,
} from '../../src/features/uploadQueue/uploadQueue.js';

interface Run {
	state: UploadQueueState;
	uploads: Upload[];
	discarded: string[];
	actions: UploadQueueAction[];
	refreshed: string[];
	/** Folders that were requested. */
	made: string[];
	ids: number[];
	attempts: UploadAttempts;
}

interface RunTestOptions {
	isVisitor?: boolean;
	/** The name of a guest of a share. */
	sender?: string;
	/** Called before each file. */
	username?: () => string | undefined;
	waitForSignIn?: (wait: SignInWait) => Promise<boolean>;
	signal?: AbortSignal;
	sizes?: number[];
	/** In place of files by sizes. */
	files?: File[];
	folder?: StoragePath;
	emptyFolders?: StoragePath[];
	ensureFolder?: (directory: StoragePath) => Promise<void>;
	/** What is chosen for all files where their names are taken, and what has them. */
	ifExists?: IfExists;
	nameStates?: Readonly<Record<string, NameState>>;
	/** An earlier run, whose queue and keys are used. */
	after?: Run;
	onAction?: (action: UploadQueueAction, dispatch: (action: UploadQueueAction) => void) => void;
}

/** Runs a queue of three files, or of as many as there are sizes, over a transport of the test. */
async function run(transport: Transport, options: RunTestOptions = {}): Promise<Run> {
	const { after, sizes = [10, 10, 10] } = options;
	const result: Run = {
		state: after?.state ?? emptyQueue,
		uploads: [],
		discarded: [],
		actions: [],
		refreshed: [],
		made: [],
		ids: [],
		attempts: after?.attempts ?? new UploadAttempts(),
	};
	let time = 0;
	const dispatch = (action: UploadQueueAction) => {
		result.actions.push(action);
		result.state = uploadQueueReducer(result.state, action);
		options.onAction?.(action, dispatch);
	};
	if (!after) {
		const made = sizes.map((size, index) => new File([new Uint8Array(size)], `${'abcdefghij'[index]}.txt`));
		const files = (options.files ?? made).map((file) => ({ file, folder: options.folder ?? rootPath }));
		const target = { area: 'private', directory: rootPath } as const;
		const isVisitor = options.isVisitor ?? false;
		dispatch({
			type: 'added',
			files,
			emptyFolders: options.emptyFolders ?? [],
			target,
			isPublic: isVisitor,
			username: isVisitor ? undefined : 'ada',
		});
	}
	if (options.ifExists) dispatch({ type: 'allIfExistsChanged', username: 'ada', ifExists: options.ifExists });
	const waiting = result.state.items.filter(({ status }) => status !== 'completed');
	result.ids = waiting.map(({ id }) => id);
	await runUploads(result.ids, {
		itemOf: (id) => result.state.items.find((item) => item.id === id),
		username: options.username ?? (() => (options.isVisitor ? undefined : 'ada')),
		sender: options.sender,
		transport: (upload, listener, signal) => {
			result.uploads.push(upload);
			return transport(upload, listener, signal);
		},
		uploaded: result.state.items.filter(({ status }) => status === 'completed'),
		folders: result.state.folders,
		nameStateOf: async (item) => options.nameStates?.[fullName(item)] ?? 'free',
		ensureFolder: async (place) => {
			result.made.push(place.directory);
			await options.ensureFolder?.(place.directory);
		},
		discard: async ({ fileName, sender }) => {
			result.discarded.push(sender === undefined ? fileName : `${fileName} of ${sender}`);
		},
		waitForSignIn: options.waitForSignIn ?? (async () => false),
		attempts: result.attempts,
		signal: options.signal ?? new AbortController().signal,
		dispatch,
		onUploaded: (area, directory) => result.refreshed.push(`${area}:${directory}`),
		describe: (error) => ({ error: (error as Error).message }),
		now: () => {
			time += 10;
			return time;
		},
	});
	return result;
}

const large = smallFileSize;
const statuses = ({ state }: Run) => state.items.map(({ status }) => status);
const succeed: Transport = async ({ fileName }) => ({ name: fileName, isVerified: false });
const tick = (milliseconds = 5) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const never = (signal: AbortSignal) =>
	new Promise<never>((_, reject) => {
		signal.addEventListener('abort', () => reject(signal.reason));
	});

test('large files are uploaded one after another, each with its full name', async (t) => {
	let running = 0;
	const result = await run(
		async (upload) => {
			t.is(++running, 1);
			await tick();
			running--;
			return { name: upload.fileName, isVerified: true };
		},
		{ sizes: [large, large, large] },
	);
	t.deepEqual(
		result.uploads.map(({ fileName }) => fileName),
		['a.txt', 'b.txt', 'c.txt'],
	);
	t.deepEqual(statuses(result), ['completed', 'completed', 'completed']);
	t.true(result.state.hasSucceeded);
});

test('three small files are uploaded in parallel with the one that is shown, and complete in the order of the list', async (t) => {
	let running = 0;
	let peak = 0;
	const shown = new Set<number>();
	const result = await run(
		async ({ fileName }) => {
			peak = Math.max(peak, ++running);
			// The responses arrive in reverse order.
			await tick(30 - 3 * 'abcdefghij'.indexOf(fileName[0] ?? ''));
			running--;
			return { name: fileName, isVerified: false };
		},
		{
			sizes: Array(10).fill(10),
			onAction: (action) => {
				if (action.type === 'itemStarted') shown.add(action.id);
				if (action.type === 'itemCompleted') shown.delete(action.id);
				t.true(shown.size <= 1);
			},
		},
	);
	t.is(peak, 4);
	t.deepEqual(
		result.actions.flatMap((action) => (action.type === 'itemCompleted' ? [action.id] : [])),
		result.ids,
	);
});

test('small files wait while a large one is sent, and start once it is sent', async (t) => {
	const begun: string[] = [];
	const result = await run(
		async ({ file, fileName }, { onProgress }) => {
			begun.push(fileName);
			if (file.size < large) return { name: fileName, isVerified: false };
			onProgress(large - 1);
			await tick();
			t.deepEqual(begun, ['a.txt']);
			onProgress(large);
			await tick();
			t.deepEqual(begun, ['a.txt', 'b.txt', 'c.txt']);
			return { name: fileName, isVerified: true };
		},
		{
			sizes: [large, 10, 10],
			onAction: (action) => action.type === 'itemCompleted' && t.is(action.isVerified, action.id === 1),
		},
	);
	t.deepEqual(statuses(result), ['completed', 'completed', 'completed']);
});

test('a refused file does not delay the others', async (t) => {
	const result = await run(async (upload, ...rest) => {
		if (upload.fileName === 'b.txt') throw new Failure('tooLarge', 'Too large');
		return succeed(upload, ...rest);
	});
	t.deepEqual(statuses(result), ['completed', 'error', 'completed']);
	t.is(result.state.failure, 'Too large');
	t.false(result.state.hasSucceeded);
});

test('a file to skip whose name is taken is not sent, and the queue says so', async (t) => {
	const result = await run(succeed, { ifExists: 'skip', nameStates: { 'a.txt': 'file', 'c.txt': 'directory' } });
	t.deepEqual(statuses(result), ['skipped', 'completed', 'skipped']);
	t.deepEqual(
		result.uploads.map(({ fileName, onConflict }) => [fileName, onConflict]),
		[['b.txt', 'fail']],
	);
	t.true(result.state.hasSucceeded);
	t.is(result.state.failure, undefined);
	t.deepEqual(result.made, ['']);
});

test('a file to skip whose name is taken meanwhile is skipped once the server says so', async (t) => {
	const result = await run(
		async (upload, ...rest) => {
			if (upload.fileName === 'b.txt') throw new Failure('alreadyExists', 'It exists already.');
			return succeed(upload, ...rest);
		},
		{ ifExists: 'skip', nameStates: { 'a.txt': 'unknown' } },
	);
	t.deepEqual(statuses(result), ['completed', 'skipped', 'completed']);
	t.deepEqual(result.discarded, ['b.txt']);
	t.true(result.state.hasSucceeded);
});

test('a file that replaces another one is sent as such, but a folder is never replaced', async (t) => {
	const result = await run(succeed, { ifExists: 'replace', nameStates: { 'a.txt': 'file', 'b.txt': 'directory' } });
	t.deepEqual(
		result.uploads.map(({ onConflict }) => onConflict),
		['replace', 'rename', 'replace'],
	);
});

/** A server that keeps what it gets in `stored`, each file after so many milliseconds, in turn. */
function keepIn(stored: Map<string, string>, ...delays: number[]): Transport {
	return async ({ fileName, file, onConflict }) => {
		await tick(delays.shift());
		const text = await file.text();
		if (onConflict === 'fail' && stored.has(fileName)) throw new Failure('alreadyExists', 'It exists already.');
		const names = onConflict === 'rename' ? candidateNames(fileName, 'file') : [fileName];
		const name = [...names].find((candidate) => onConflict === 'replace' || !stored.has(candidate)) ?? '';
		stored.set(name, text);
		return { name, isVerified: true };
	};
}

const card = (text: string, name = 'IMG_0001.jpg', lastModified = 1000) => new File([text], name, { lastModified });

for (const ifExists of ['replace', 'skip'] as const) {
	for (const delays of [
		[1, 1],
		[40, 1],
		[1, 40],
	]) {
		test(`of two files of one name none is lost where ${ifExists} is chosen (${delays} ms)`, async (t) => {
			const stored = new Map([['IMG_0001.jpg', 'from before']]);
			const files = [card('of card one'), card('of card two'), card('of card 3!!', 'IMG_0001 (1).jpg')];
			const nameStates: Record<string, NameState> = ifExists === 'replace' ? { 'IMG_0001.jpg': 'file' } : {};
			if (ifExists === 'skip') stored.clear();
			const result = await run(keepIn(stored, ...delays), { files, ifExists, nameStates });
			t.deepEqual(statuses(result), ['completed', 'completed', 'completed']);
			t.deepEqual(
				[...stored],
				[
					['IMG_0001.jpg', 'of card one'],
					['IMG_0001 (1).jpg', 'of card two'],
					['IMG_0001 (1) (1).jpg', 'of card 3!!'],
				],
			);
		});
	}
}

test('a file that is added twice replaces itself, or is skipped, as is chosen', async (t) => {
	for (const [ifExists, status] of [
		['replace', 'completed'],
		['skip', 'skipped'],
	] as const) {
		const stored = new Map<string, string>();
		const result = await run(keepIn(stored, 20, 1), { files: [card('one'), card('one')], ifExists });
		t.deepEqual(statuses(result), ['completed', status]);
		t.deepEqual([...stored], [['IMG_0001.jpg', 'one']]);
	}
});

test('a file that failed and is tried again replaces none of the queue that has got its name meanwhile', async (t) => {
	const stored = new Map<string, string>();
	const keep = keepIn(stored);
	const first = await run(
		async (upload, ...rest) => {
			if ((await upload.file.text()) === 'one') throw new Failure('checksumMismatch', 'Damaged');
			return keep(upload, ...rest);
		},
		{ files: [card('one'), card('two')], ifExists: 'replace' },
	);
	t.deepEqual(statuses(first), ['error', 'completed']);
	await run(keep, { after: first });
	t.deepEqual(
		[...stored],
		[
			['IMG_0001.jpg', 'two'],
			['IMG_0001 (1).jpg', 'one'],
		],
	);
});

test('files of other names that replace others go in parallel', async (t) => {
	let running = 0;
	let peak = 0;
	await run(
		async (upload, ...rest) => {
			peak = Math.max(peak, ++running);
			await tick(10);
			running--;
			return succeed(upload, ...rest);
		},
		{ sizes: Array(8).fill(10), ifExists: 'replace' },
	);
	t.is(peak, 4);
});

test('a file that could not replace another one is tried again with a new key once something else is chosen', async (t) => {
	const keys: string[] = [];
	const refuse: Transport = async ({ key }) => {
		keys.push(key);
		throw new Failure('notOwner', 'Not yours.');
	};
	const refused = await run(refuse, { sizes: [10], ifExists: 'replace' });
	await run(refuse, { after: refused });
	await run(refuse, { after: refused, ifExists: 'rename' });
	t.is(keys[0], keys[1]);
	t.not(keys[1], keys[2]);
});

test('a network error ends the run, and the other files stay pending', async (t) => {
	const result = await run(
		async () => {
			throw new Failure('unavailable', 'Network error during upload');
		},
		{ sizes: [large, large, large] },
	);
	t.is(result.uploads.length, 1);
	t.deepEqual(statuses(result), ['error', 'pending', 'pending']);
});

test('a run that ends early keeps the small files that were uploaded in parallel', async (t) => {
	const result = await run(async (upload, listener, signal) => {
		if (upload.fileName === 'b.txt') return succeed(upload, listener, signal);
		if (upload.fileName === 'c.txt') return never(signal);
		await tick();
		throw new Failure('storageFull', 'Upload failed with status 507');
	});
	t.deepEqual(statuses(result), ['error', 'completed', 'pending']);
});

test('a retried file has the same key, a renamed one has another', async (t) => {
	const fail: Transport = async () => {
		throw new Failure('unavailable', 'Network error during upload');
	};
	const first = await run(fail, { sizes: [10] });
	const again = await run(fail, { after: first });
	const renamed = {
		...again,
		state: uploadQueueReducer(again.state, { type: 'renamed', username: 'ada', id: 1, name: 'z' }),
	};
	const third = await run(succeed, { after: renamed });
	t.regex(first.uploads[0]?.key ?? '', /^[0-9a-f]{32}$/);
	t.is(again.uploads[0]?.key, first.uploads[0]?.key);
	t.not(third.uploads[0]?.key, first.uploads[0]?.key);
});

test('a guest who corrects their name sends what was begun anew, and nothing of the wrong one is left', async (t) => {
	const fail: Transport = async () => {
		throw new Failure('unavailable', 'Network error during upload');
	};
	const wrong = await run(fail, { isVisitor: true, sender: 'Graec', sizes: [large] });
	const again = await run(fail, { after: wrong, isVisitor: true, sender: 'Graec' });
	const right = await run(succeed, { after: again, isVisitor: true, sender: 'Grace' });
	const keys = [wrong, again, right].map(({ uploads }) => uploads[0]?.key);
	t.is(keys[0], keys[1]);
	t.not(keys[1], keys[2]);
	t.is(right.uploads[0]?.sender, 'Grace');
	t.deepEqual([...new Set(right.discarded)], ['a.txt of Graec']);
});

test('a file whose name was taken by a folder meanwhile has another key, and the former one once it is free again', async (t) => {
	const fail: Transport = async () => {
		throw new Failure('unavailable', 'Network error during upload');
	};
	const first = await run(fail, { sizes: [large], ifExists: 'replace' });
	const second = await run(fail, { after: first, nameStates: { 'a.txt': 'directory' } });
	const third = await run(fail, { after: second });
	const keys = [first, second, third].map(({ uploads }) => uploads[0]?.key);
	t.deepEqual(
		[first, second].map(({ uploads }) => uploads[0]?.onConflict),
		['replace', 'rename'],
	);
	t.not(keys[0], keys[1]);
	t.is(keys[0], keys[2]);
});

test('each file of a run has a key of its own', async (t) => {
	const { uploads } = await run(succeed);
	t.is(new Set(uploads.map(({ key }) => key)).size, 3);
});

test('a cancelled run sends and dispatches nothing more, and discards its upload on the server', async (t) => {
	const controller = new AbortController();
	const result = await run(
		async (_upload, _listener, signal) => {
			controller.abort();
			signal.throwIfAborted();
			return never(signal);
		},
		{ signal: controller.signal, sizes: [large, 10] },
	);
	t.is(result.uploads.length, 1);
	t.deepEqual(result.discarded, ['a.txt']);
	t.is(result.state.failure, undefined);
	t.not(result.actions.at(-1)?.type, 'runEnded');
});

test('a paused run leaves all files pending and discards none on the server', async (t) => {
	const controller = new AbortController();
	const result = await run(
		async (_upload, _listener, signal) => {
			setTimeout(() => controller.abort(paused));
			return never(signal);
		},
		{ signal: controller.signal },
	);
	t.deepEqual(statuses(result), ['pending', 'pending', 'pending']);
	t.deepEqual(result.discarded, []);
	t.is(result.state.run, undefined);
});

test('what has begun is discarded by what it was sent with, whatever becomes of its item', async (t) => {
	const controller = new AbortController();
	const first = await run(
		async (upload, _listener, signal) => {
			if (upload.fileName === 'a.txt') throw new Failure('invalid', 'No.');
			setTimeout(() => controller.abort(paused));
			return never(signal);
		},
		{ signal: controller.signal, ifExists: 'replace', nameStates: { 'a.txt': 'directory' }, sizes: [large, large, 10] },
	);
	t.deepEqual(statuses(first), ['error', 'pending', 'pending']);
	const begun = first.ids.map((id) =>
		first.attempts.takeBegun(id).map(({ fileName, onConflict }) => [fileName, onConflict]),
	);
	t.deepEqual(begun, [[['a.txt', 'rename']], [['b.txt', 'replace']], []]);
	t.deepEqual(first.attempts.takeBegun(first.ids[0] ?? 0), []);
});

test('a file that is uploaded under another name leaves nothing of its former attempt on the server', async (t) => {
	const failed = await run(async () => {
		throw new Failure('invalid', 'No.');
	});
	const [id] = failed.ids;
	failed.state = uploadQueueReducer(failed.state, { type: 'renamed', id: id ?? 0, name: 'z', username: 'ada' });
	const result = await run(succeed, { after: failed });
	t.deepEqual(statuses(result), ['completed', 'completed', 'completed']);
	t.deepEqual(result.discarded, ['a.txt']);
});

test('progress is throttled, and always shown when the last byte is sent', async (t) => {
	const result = await run(async (upload, listener, signal) => {
		if (upload.fileName === 'a.txt') for (let byte = 1; byte <= 10; byte++) listener.onProgress(byte);
		return succeed(upload, listener, signal);
	});
	const shown = result.actions.flatMap((action) => (action.type === 'progressed' ? [action.uploadedSize] : []));
	t.true(shown.length < 10);
	t.is(result.state.progress, undefined);
});

test('the reason for which a file waits is shown, also if it began to wait before the file was shown', async (t) => {
	let show = () => {};
	const isShown = new Promise<void>((resolve) => {
		show = resolve;
	});
	const result = await run(
		async (upload, listener, signal) => {
			if (upload.fileName === 'b.txt') {
				listener.onWait('connection');
				await isShown;
				listener.onWait(undefined);
			} else await tick(5);
			return succeed(upload, listener, signal);
		},
		{ onAction: ({ type }) => type === 'itemWaits' && show() },
	);
	t.deepEqual(
		result.actions.flatMap((action) => (action.type === 'itemWaits' ? [[action.id, action.reason]] : [])),
		[
			[2, 'connection'],
			[2, undefined],
		],
	);
});

test('the listing is refreshed once for several uploads, and again at the end', async (t) => {
	t.deepEqual((await run(succeed)).refreshed, ['private:', 'private:']);
});

test('a file queued by a user waits for a sign-in, and is never uploaded as a visitor’s', async (t) => {
	let username: string | undefined = 'ada';
	const result = await run(
		async (upload, ...rest) => {
			if (upload.fileName === 'a.txt') username = undefined;
			return succeed(upload, ...rest);
		},
		{
			sizes: [large, 10, 10],
			username: () => username,
			waitForSignIn: async ({ onWait }) => {
				onWait();
				await tick();
				username = 'ada';
				return true;
			},
			onAction: (action, dispatch) => {
				if (action.type === 'itemStarted' && action.id === 1)
					dispatch({ type: 'allVisibilityChanged', username: 'ada', isPublic: true });
			},
		},
	);
	t.deepEqual(
		result.uploads.map((upload) => [upload.fileName, upload.username]),
		[
			['a.txt', 'ada'],
			['b.txt', 'ada'],
			['c.txt', 'ada'],
		],
	);
	t.deepEqual(
		result.actions.flatMap((action) => (action.type === 'itemWaits' ? [[action.id, action.reason]] : [])),
		[[2, 'signIn']],
	);
	t.deepEqual(statuses(result), ['completed', 'completed', 'completed']);
});

test('a file queued by one user is not uploaded while another one is signed in, and waits for its own', async (t) => {
	let username = 'ada';
	const waitedFor: (string | undefined)[] = [];
	const result = await run(
		async (upload, ...rest) => {
			if (upload.fileName === 'a.txt') username = 'bob';
			else t.is(username, 'ada');
			return succeed(upload, ...rest);
		},
		{
			sizes: [large, 10, 10],
			username: () => username,
			waitForSignIn: async (wait) => {
				wait.onWait();
				waitedFor.push(wait.username);
				username = 'ada';
				return true;
			},
		},
	);
	t.deepEqual(waitedFor, ['ada']);
	t.true(result.uploads.every((upload) => upload.username === 'ada'));
	t.deepEqual(statuses(result), ['completed', 'completed', 'completed']);
});

test('a visitor uploads to the public area', async (t) => {
	const result = await run(succeed, { isVisitor: true });
	t.true(result.uploads.every(({ username, area }) => username === undefined && area === 'public'));
	t.is(result.refreshed[0], 'public:');
});

test('a file is uploaded with the visibility that it has when it starts', async (t) => {
	const result = await run(succeed, {
		sizes: [large, large],
		onAction: (action, dispatch) => {
			if (action.type === 'itemStarted' && action.id === 1)
				dispatch({ type: 'allVisibilityChanged', username: 'ada', isPublic: true });
		},
	});
	t.deepEqual(
		result.uploads.map(({ area }) => area),
		['private', 'public'],
	);
});

test('folders are created before the files in them, empty ones first', async (t) => {
	const made: string[] = [];
	const result = await run(
		async (upload, ...rest) => {
			t.deepEqual(made.slice(0, 3), ['empty', 'a/b', 'photos']);
			return succeed(upload, ...rest);
		},
		{
			sizes: [large],
			folder: parsePath('photos'),
			emptyFolders: [parsePath('empty'), parsePath('a/b')],
			ensureFolder: async (directory) => void made.push(directory),
		},
	);
	t.deepEqual(result.state.folders, []);
	t.deepEqual(result.refreshed, ['private:photos']);
});

test('a folder that is refused fails the files in it, an empty one only itself', async (t) => {
	const refuse = async (directory: StoragePath) => {
		if (directory !== '') throw new Failure('invalidName', `Not a name: ${directory}`);
	};
	const inFolder = await run(succeed, { folder: parsePath('what?'), ensureFolder: refuse });
	t.deepEqual(statuses(inFolder), ['error', 'error', 'error']);
	t.is(inFolder.uploads.length, 0);
	const beside = await run(succeed, { emptyFolders: [parsePath('what?')], ensureFolder: refuse });
	t.deepEqual(statuses(beside), ['completed', 'completed', 'completed']);
	t.is(beside.state.failure, 'Not a name: what?');
	t.false(beside.state.hasSucceeded);
});

test('actions are dispatched in batches and in order, the end of a run without delay', async (t) => {
	const dispatched: string[] = [];
	const dispatch = batchActions(({ type }) => dispatched.push(type));
	dispatch({ type: 'runStarted', ids: [1] });
	t.deepEqual(dispatched, ['runStarted']);
	dispatch({ type: 'itemStarted', id: 1, at: 0 });
	dispatch({ type: 'progressed', id: 1, uploadedSize: 1, at: 1 });
	t.is(dispatched.length, 1);
	await tick(100);
	t.is(dispatched.length, 3);
	dispatch({ type: 'itemCompleted', id: 1, savedName: 'a', isVerified: true });
	dispatch({ type: 'runEnded' });
	t.deepEqual(dispatched, ['runStarted', 'itemStarted', 'progressed', 'itemCompleted', 'runEnded']);
});

test('when a shared folder is lost the run ends, and the files that are left wait', async (t) => {
	const target = { area: 'shared', directory: parsePath('Photos') } as const;
	const files = ['a', 'b'].map((name) => ({ file: new File([new Uint8Array(large)], name), folder: rootPath }));
	const state = uploadQueueReducer(emptyQueue, { type: 'added', files, target, isPublic: false, username: 'ada' });
	const after = { ...(await run(succeed, { sizes: [] })), state };
	const result = await run(
		async () => {
			throw new Failure('notFound', 'There is no such file or folder.');
		},
		{ after },
	);
	t.deepEqual(
		result.uploads.map(({ area, directory }) => `${area}/${directory}`),
		['shared/Photos'],
	);
	t.deepEqual(statuses(result), ['error', 'pending']);
	t.is(
		describeFailure(new Failure('notFound', ''), 'shared').error,
		'This folder has another name, is gone, or is not shared with you any more.',
	);
	t.is(
		describeFailure(new Failure('notFound', 'There is no such folder.'), 'private').error,
		'There is no such folder.',
	);
});
