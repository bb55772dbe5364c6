import { parsePath, rootPath } from '@stowage/rules';
import test from 'ava';
import { usualMs } from '../../../test/processorTime.js';
import {
	areaOf,
	baseOf,
	directoryOf,
	findItem,
	fullName,
	hasValidName,
	type QueueItem,
} from '../../src/features/uploadQueue/queueItem.js';
import {
	fraction,
	isFinalizing,
	mayStart,
	measuredPace,
	runProgress,
	summarize,
} from '../../src/features/uploadQueue/queueSummary.js';
import {
	emptyQueue,
	type UploadQueueAction,
	type UploadQueueState,
	uploadQueueReducer,
} from '../../src/features/uploadQueue/uploadQueue.js';

const privateRoot = { area: 'private', directory: rootPath } as const;

function file(name: string, size = 10): File {
	return new File([new Uint8Array(size)], name, { lastModified: 1000 });
}

function chosen(name: string, folder = '') {
	return { file: file(name), folder: parsePath(folder) };
}

function after(...actions: UploadQueueAction[]): UploadQueueState {
	return actions.reduce(uploadQueueReducer, emptyQueue);
}

function added(...names: string[]): UploadQueueAction {
	return {
		type: 'added',
		files: names.map((name) => chosen(name)),
		target: privateRoot,
		isPublic: false,
		username: 'ada',
	};
}

function item(state: UploadQueueState, index = 0): QueueItem {
	const item = state.items[index];
	if (!item) throw new Error(`There is no item ${index}.`);
	return item;
}

test('an added file is pending under its own name, with the extension apart', (t) => {
	const { id, name, originalName, extension, size, status } = item(after(added('a.tar.gz')));
	t.deepEqual(
		{ id, name, originalName, extension, size, status },
		{ id: 1, name: 'a.tar', originalName: 'a.tar', extension: '.gz', size: 10, status: 'pending' },
	);
});

test('a name that begins with its only dot has no extension', (t) => {
	t.is(item(after(added('.env'))).name, '.env');
	t.is(item(after(added('.env'))).extension, '');
});

test('a file that is added twice has two entries', (t) => {
	t.is(after(added('a.txt'), added('a.txt')).items.length, 2);
});

test('a changed name is uploaded trimmed and with its extension, and can be restored', (t) => {
	const renamed = after(added('a.txt'), { type: 'renamed', username: 'ada', id: 1, name: ' b ' });
	t.is(fullName(item(renamed)), 'b.txt');
	t.is(fullName(item(uploadQueueReducer(renamed, { type: 'nameRestored', username: 'ada', id: 1 }))), 'a.txt');
});

test('white space around a name, its base or its extension is not uploaded', (t) => {
	t.is(fullName(item(after(added('\uFEFFa\u00A0.txt\u3000')))), 'a.txt');
	t.is(fullName(item(after(added('README\u00A0')))), 'README');
});

const validity = test.macro((t, name: string, expected: boolean) => {
	const state = after(added('a.txt'), { type: 'renamed', username: 'ada', id: 1, name });
	t.is(hasValidName(item(state)), expected);
	t.is(summarize(state.items, 'ada').hasInvalidName, !expected);
	t.is(mayStart(summarize(state.items, 'ada'), false), expected);
});
test('a plain name is valid', validity, 'notes', true);
test('leading dots are valid', validity, '..notes', true);
test('an empty name is invalid although the extension remains', validity, '', false);
test('a name of spaces is invalid', validity, '   ', false);
test('a name of other white space is invalid', validity, '\u00A0\uFEFF', false);
test('a colon is invalid', validity, 'a:b', false);
test('a slash is invalid', validity, 'a/b', false);
test('a tab at the edge is invalid and not trimmed away', validity, 'a\t', false);
test('a name that is too long with its extension is invalid', validity, 'a'.repeat(252), false);

test('a run may not start with an empty queue or while another one is active', (t) => {
	t.false(mayStart(summarize([], 'ada'), false));
	t.false(mayStart(summarize(after(added('a.txt')).items, 'ada'), true));
});

test('the visibility of the queue is private, public or mixed', (t) => {
	const state = after(added('a', 'b'));
	t.is(summarize(state.items, 'ada').visibility, 'private');
	const mixed = uploadQueueReducer(state, { type: 'visibilityChanged', username: 'ada', id: 2, isPublic: true });
	t.is(summarize(mixed.items, 'ada').visibility, 'mixed');
	t.is(
		summarize(uploadQueueReducer(mixed, { type: 'allVisibilityChanged', username: 'ada', isPublic: true }).items, 'ada')
			.visibility,
		'public',
	);
});

test('a file is uploaded to its folder only in the area where the folder was chosen', (t) => {
	const docs = parsePath('docs');
	const state = after({
		type: 'added',
		files: [chosen('a')],
		target: { area: 'private', directory: docs },
		isPublic: false,
		username: 'ada',
	});
	t.is(directoryOf(item(state)), docs);
	t.is(
		directoryOf(item(uploadQueueReducer(state, { type: 'visibilityChanged', username: 'ada', id: 1, isPublic: true }))),
		rootPath,
	);
});

test('a file of a dropped folder is uploaded to that folder, below the one it was dropped on', (t) => {
	const state = after({
		type: 'added',
		files: [chosen('a', 'photos/2024')],
		target: { area: 'private', directory: parsePath('docs') },
		isPublic: false,
		username: 'ada',
	});
	t.is(directoryOf(item(state)), parsePath('docs/photos/2024'));
	t.is(baseOf(item(state)), parsePath('docs'));
	const madePublic = uploadQueueReducer(state, { type: 'allVisibilityChanged', username: 'ada', isPublic: true });
	t.is(directoryOf(item(madePublic)), parsePath('photos/2024'));
	t.is(directoryOf(item(uploadQueueReducer(state, { type: 'signedOut', username: 'ada' }))), rootPath);
});

test('empty folders are queued with the files, get the visibility of all, and are removed once they are created', (t) => {
	const state = after({
		type: 'added',
		files: [chosen('a')],
		emptyFolders: [parsePath('x'), parsePath('y/z')],
		target: privateRoot,
		isPublic: false,
		username: 'ada',
	});
	t.deepEqual(
		state.folders.map(({ id, folder, isPublic }) => [id, folder, isPublic]),
		[
			[2, 'x', false],
			[3, 'y/z', false],
		],
	);
	const madePublic = uploadQueueReducer(state, { type: 'allVisibilityChanged', username: 'ada', isPublic: true });
	t.true(madePublic.folders.every(({ isPublic }) => isPublic));
	t.deepEqual(
		uploadQueueReducer(state, { type: 'folderMade', id: 2 }).folders.map(({ id }) => id),
		[3],
	);
	t.is(item(uploadQueueReducer(state, added('b')), 1).id, 4);
	t.deepEqual(uploadQueueReducer(state, { type: 'signedOut', username: 'ada' }).folders, []);
});

test('a run with a folder that could not be created has not succeeded', (t) => {
	const state = after(
		added('a'),
		{ type: 'runStarted', ids: [1] },
		{ type: 'folderFailed', error: 'No such name' },
		{ type: 'itemStarted', id: 1, at: 0 },
		{ type: 'itemCompleted', id: 1, savedName: 'a', isVerified: false },
		{ type: 'runEnded' },
	);
	t.false(state.hasSucceeded);
	t.is(state.failure, 'No such name');
});

test('files queued by a user need an account, files queued by a visitor only after a sign-in', (t) => {
	const accountsOf = ({ items }: UploadQueueState) => [...summarize(items, 'ada').accounts];
	t.deepEqual(accountsOf(after(added('a'))), ['ada']);
	const target = { area: 'public', directory: rootPath } as const;
	const visitor = after({ type: 'added', files: [chosen('a')], target, isPublic: true, username: undefined });
	t.deepEqual(accountsOf(visitor), [undefined]);
	t.deepEqual(accountsOf(uploadQueueReducer(visitor, { type: 'signedIn', username: 'ada' })), ['ada']);
	t.deepEqual(accountsOf(uploadQueueReducer(after(added('a')), { type: 'signedOut', username: 'ada' })), [undefined]);
});

test('signing in makes pending files private, and signing out makes them public at the root', (t) => {
	const inDocs = { area: 'public', directory: parsePath('docs') } as const;
	const state = after({ type: 'added', files: [chosen('a')], target: inDocs, isPublic: true, username: 'ada' });
	const signedIn = uploadQueueReducer(state, { type: 'signedIn', username: 'ada' });
	t.false(item(signedIn).isPublic);
	const signedOut = uploadQueueReducer(state, { type: 'signedOut', username: 'ada' });
	t.true(item(signedOut).isPublic);
	t.is(directoryOf(item(signedOut)), rootPath);
});

test('what one user has queued stays as it is when another one signs in', (t) => {
	const target = { area: 'public', directory: rootPath } as const;
	const files = [chosen('a')];
	const emptyFolders = [parsePath('x')];
	const state = after(
		{ type: 'added', files, emptyFolders, target, isPublic: true, username: 'ada' },
		{ type: 'added', files, target, isPublic: true, username: undefined },
	);
	const signedIn = uploadQueueReducer(state, { type: 'signedIn', username: 'bob' });
	t.is(item(signedIn), item(state));
	t.deepEqual(signedIn.folders, state.folders);
	t.like(item(signedIn, 1), { username: 'bob', isPublic: false });
	t.deepEqual([...summarize(signedIn.items, 'ada').accounts], ['ada', 'bob']);
});

/** A file and an empty folder of ada's, and after them a file of bob's. */
function ofTwo(): UploadQueueState {
	const given = { type: 'added', target: privateRoot, isPublic: false } as const;
	return after(
		{ ...given, files: [chosen('a', 'x')], emptyFolders: [parsePath('y')], username: 'ada' },
		{ ...given, files: [chosen('b')], username: 'bob' },
	);
}

test('what one user does to the queue changes nothing that another one has added', (t) => {
	const state = ofTwo();
	const [{ id }, { id: own }] = [item(state), item(state, 1)];
	const actions: UploadQueueAction[] = [
		{ type: 'renamed', username: 'bob', id, name: 'z' },
		{ type: 'nameRestored', username: 'bob', id },
		{ type: 'visibilityChanged', username: 'bob', id, isPublic: true },
		{ type: 'allVisibilityChanged', username: 'bob', isPublic: true },
		{ type: 'ifExistsChanged', username: 'bob', id, ifExists: 'replace' },
		{ type: 'allIfExistsChanged', username: 'bob', ifExists: 'replace' },
		{ type: 'removed', username: 'bob', id },
		{ type: 'cancelled', username: 'bob' },
		{ type: 'cancelled', username: undefined },
		{ type: 'signedOut', username: 'bob' },
		{ type: 'signedIn', username: 'bob' },
	];
	for (const action of actions) {
		const { items, folders } = uploadQueueReducer(state, action);
		t.is(items[0], item(state), action.type);
		t.deepEqual(folders, state.folders, action.type);
	}
	const signedOut = uploadQueueReducer(state, { type: 'signedOut', username: 'bob' });
	t.like(item(signedOut, 1), { id: own, username: undefined, isPublic: true });
	t.is(item(uploadQueueReducer(signedOut, { type: 'signedIn', username: 'eve' })), item(state));
	t.deepEqual(uploadQueueReducer(state, { type: 'cancelled', username: 'bob' }).items, [item(state)]);
	const { items, folders } = uploadQueueReducer(state, { type: 'othersRemoved', username: 'bob' });
	t.deepEqual([items, folders], [[item(state, 1)], []]);
});

test('the queue is summarized for who is signed in: what others have added holds up nobody', (t) => {
	const invalid = uploadQueueReducer(ofTwo(), { type: 'renamed', username: 'ada', id: 1, name: 'a:b' });
	const published = uploadQueueReducer(invalid, { type: 'allVisibilityChanged', username: 'bob', isPublic: true });
	t.like(summarize(published.items, 'bob'), { visibility: 'public', hasInvalidName: false, own: 1, waiting: [1, 3] });
	t.like(summarize(published.items, 'ada'), { visibility: 'private', hasInvalidName: true, own: 1 });
	t.like(summarize(published.items, undefined), { visibility: undefined, hasInvalidName: false, own: 0 });
});

test('what is chosen for a name that is taken ends with another name or place, and with the session', (t) => {
	const chosenFor = (state: UploadQueueState) => state.items.map(({ ifExists }) => ifExists);
	const state = after(added('a', 'b'), { type: 'allIfExistsChanged', username: 'ada', ifExists: 'replace' });
	t.deepEqual(chosenFor(state), ['replace', 'replace']);
	const one = uploadQueueReducer(state, { type: 'ifExistsChanged', username: 'ada', id: 2, ifExists: 'skip' });
	t.deepEqual(chosenFor(one), ['replace', 'skip']);
	t.deepEqual(chosenFor(uploadQueueReducer(one, { type: 'renamed', username: 'ada', id: 1, name: 'c' })), [
		'rename',
		'skip',
	]);
	t.deepEqual(
		chosenFor(uploadQueueReducer(one, { type: 'visibilityChanged', username: 'ada', id: 2, isPublic: true })),
		['replace', 'rename'],
	);
	t.deepEqual(chosenFor(uploadQueueReducer(one, { type: 'allVisibilityChanged', username: 'ada', isPublic: true })), [
		'rename',
		'rename',
	]);
	t.deepEqual(chosenFor(uploadQueueReducer(one, { type: 'signedOut', username: 'ada' })), ['rename', 'rename']);
	const running = uploadQueueReducer(one, { type: 'runStarted', ids: [1] });
	t.is(uploadQueueReducer(running, { type: 'allIfExistsChanged', username: 'ada', ifExists: 'rename' }), running);
});

test('skipped files leave the queue with those that were uploaded, and count for no progress', (t) => {
	const state = after(
		added('a', 'b'),
		{ type: 'runStarted', ids: [1, 2] },
		{ type: 'itemSkipped', id: 1 },
		{ type: 'itemCompleted', id: 2, savedName: 'b', isVerified: false },
		{ type: 'runEnded' },
	);
	t.true(state.hasSucceeded);
	t.deepEqual(runProgress(state), { completed: 1, total: 1, uploadedSize: 10, totalSize: 10 });
	const { completed, skipped, waiting } = summarize(state.items, 'ada');
	t.deepEqual([completed, skipped, waiting], [1, 1, []]);
	t.deepEqual(uploadQueueReducer(state, { type: 'completedCleared' }).items, []);
});

test('signing out does not change files that were uploaded already', (t) => {
	const state = after(
		added('a', 'b'),
		{ type: 'runStarted', ids: [1] },
		{ type: 'itemStarted', id: 1, at: 0 },
		{ type: 'itemCompleted', id: 1, savedName: 'a', isVerified: false },
		{ type: 'runEnded' },
		{ type: 'signedOut', username: 'ada' },
	);
	t.deepEqual(
		state.items.map(({ isPublic }) => isPublic),
		[false, true],
	);
});

test('names and visibility can’t be changed and files can’t be removed during a run', (t) => {
	const running = after(added('a.txt', 'b.txt'), { type: 'runStarted', ids: [1, 2] });
	const actions: UploadQueueAction[] = [
		{ type: 'renamed', username: 'ada', id: 2, name: 'c' },
		{ type: 'nameRestored', username: 'ada', id: 2 },
		{ type: 'visibilityChanged', username: 'ada', id: 2, isPublic: true },
		{ type: 'removed', username: 'ada', id: 2 },
	];
	for (const action of actions) t.is(uploadQueueReducer(running, action), running, action.type);
});

test('a file can be removed, and the ids of an emptied queue are not used again', (t) => {
	const state = after(added('a', 'b'), { type: 'removed', username: 'ada', id: 1 });
	t.deepEqual(
		state.items.map(({ id }) => id),
		[2],
	);
	const empty = uploadQueueReducer(state, { type: 'removed', username: 'ada', id: 2 });
	t.deepEqual(empty, { ...emptyQueue, nextId: 3 });
	t.is(item(uploadQueueReducer(empty, added('c'))).id, 3);
});

test('files are found by their ids where others were removed between them', (t) => {
	const { items } = after(
		added('a.txt', 'b.txt', 'c.txt', 'd.txt'),
		{ type: 'removed', username: 'ada', id: 2 },
		added('e.txt'),
	);
	t.deepEqual(
		[0, 1, 2, 3, 4, 5, 6].map((id) => findItem(items, id)?.name),
		[undefined, 'a', undefined, 'c', 'd', 'e', undefined],
	);
	t.is(findItem([], 1), undefined);
});

test('one file is shown as uploading at a time, with its own progress', (t) => {
	const started = after(added('a'), { type: 'runStarted', ids: [1] }, { type: 'itemStarted', id: 1, at: 0 });
	t.is(item(started).status, 'uploading');
	const halfway = uploadQueueReducer(started, { type: 'progressed', id: 1, uploadedSize: 5, at: 1000 });
	t.is(halfway.progress?.uploadedSize, 5);
	t.is(uploadQueueReducer(halfway, { type: 'progressed', id: 2, uploadedSize: 9, at: 2000 }), halfway);
	t.false(isFinalizing(item(halfway), halfway.progress));
	const sent = uploadQueueReducer(halfway, { type: 'progressed', id: 1, uploadedSize: 10, at: 2000 });
	t.true(isFinalizing(item(sent), sent.progress));
});

test('speed and time left are computed from the sent bytes', (t) => {
	const state = after(
		added('a'),
		{ type: 'runStarted', ids: [1] },
		{ type: 'itemStarted', id: 1, at: 0 },
		{ type: 'progressed', id: 1, uploadedSize: 4, at: 1000 },
	);
	if (!state.progress) throw new Error('There is no progress.');
	t.deepEqual(measuredPace(item(state), state.progress), { speed: 4, secondsLeft: 2 });
});

test('bytes of an earlier attempt do not count for the speed', (t) => {
	const state = after(
		added('a'),
		{ type: 'runStarted', ids: [1] },
		{ type: 'itemStarted', id: 1, at: 0 },
		{ type: 'itemResumed', id: 1, uploadedSize: 8, at: 1000 },
		{ type: 'progressed', id: 1, uploadedSize: 9, at: 2000 },
	);
	if (!state.progress) throw new Error('There is no progress.');
	t.deepEqual(measuredPace(item(state), state.progress), { speed: 1, secondsLeft: 1 });
});

test('a waiting upload shows the reason, and not that it is finalized', (t) => {
	const sent = after(
		added('a'),
		{ type: 'runStarted', ids: [1] },
		{ type: 'itemStarted', id: 1, at: 0 },
		{ type: 'progressed', id: 1, uploadedSize: 10, at: 1000 },
	);
	const waits = uploadQueueReducer(sent, { type: 'itemWaits', id: 1, reason: 'connection' });
	t.is(waits.progress?.wait, 'connection');
	t.false(isFinalizing(item(waits), waits.progress));
	const continued = uploadQueueReducer(waits, { type: 'itemWaits', id: 1, reason: undefined });
	t.true(isFinalizing(item(continued), continued.progress));
});

test('signing in again during a run does not change the visibility of files', (t) => {
	const waits = after(
		added('a', 'b'),
		{ type: 'allVisibilityChanged', username: 'ada', isPublic: true },
		{ type: 'runStarted', ids: [1, 2] },
		{ type: 'itemStarted', id: 1, at: 0 },
		{ type: 'itemWaits', id: 1, reason: 'signIn' },
	);
	t.is(uploadQueueReducer(waits, { type: 'signedIn', username: 'ada' }), waits);
});

test('what a visitor has chosen becomes private once a user is signed in, also elsewhere, and what the user made public stays', (t) => {
	const target = { area: 'public', directory: rootPath } as const;
	const ofVisitor: UploadQueueAction = {
		type: 'added',
		files: [chosen('v')],
		target,
		isPublic: true,
		username: undefined,
	};
	const ofAda: UploadQueueAction = { type: 'added', files: [chosen('a')], target, isPublic: true, username: 'ada' };
	const visibilities = ({ items }: UploadQueueState) => items.map(({ isPublic, username }) => [username, isPublic]);
	const found = [
		['ada', true],
		['ada', false],
	];
	t.deepEqual(visibilities(after(ofAda, ofVisitor, { type: 'userFound', username: 'ada' })), found);
	const waits = after(
		ofAda,
		{ type: 'runStarted', ids: [1] },
		{ type: 'itemStarted', id: 1, at: 0 },
		{ type: 'itemWaits', id: 1, reason: 'signIn' },
		ofVisitor,
	);
	t.deepEqual(visibilities(uploadQueueReducer(waits, { type: 'signedIn', username: 'ada' })), found);
});

test('a failed file is marked with the reason, and the next run uploads it again', (t) => {
	const failed = after(
		added('a', 'b'),
		{ type: 'runStarted', ids: [1, 2] },
		{ type: 'itemStarted', id: 1, at: 0 },
		{ type: 'itemFailed', id: 1, error: 'No space' },
		{ type: 'runEnded' },
	);
	t.like(item(failed), { status: 'error', error: 'No space' });
	t.is(failed.failure, 'No space');
	t.false(failed.hasSucceeded);
	t.deepEqual(summarize(failed.items, 'ada').waiting, [1, 2]);
	const again = uploadQueueReducer(failed, { type: 'runStarted', ids: [1] });
	t.is(item(again).status, 'pending');
	t.is(again.failure, undefined);
});

test('a run that ends early leaves its file pending without an error', (t) => {
	const state = after(
		added('a'),
		{ type: 'runStarted', ids: [1] },
		{ type: 'itemStarted', id: 1, at: 0 },
		{ type: 'runEnded' },
	);
	t.is(item(state).status, 'pending');
	t.is(state.run, undefined);
	t.is(state.failure, undefined);
	t.false(state.hasSucceeded);
});

test('a run succeeds by its own files, and files added meanwhile stay in the queue', (t) => {
	const done = after(
		added('a'),
		{ type: 'runStarted', ids: [1] },
		added('b'),
		{ type: 'itemStarted', id: 1, at: 0 },
		{ type: 'itemCompleted', id: 1, savedName: 'a (1)', isVerified: false },
		{ type: 'runEnded' },
	);
	t.true(done.hasSucceeded);
	t.like(item(done), { status: 'completed', savedName: 'a (1)' });
	const cleared = uploadQueueReducer(done, { type: 'completedCleared' });
	t.deepEqual(
		cleared.items.map(({ id }) => id),
		[2],
	);
	t.false(cleared.hasSucceeded);
});

test('an emptied queue ignores the late response to an aborted upload', (t) => {
	const emptied = after(
		added('a'),
		{ type: 'runStarted', ids: [1] },
		{ type: 'itemStarted', id: 1, at: 0 },
		{ type: 'cancelled', username: 'ada' },
	);
	t.deepEqual(
		uploadQueueReducer(emptied, { type: 'itemCompleted', id: 1, savedName: 'a', isVerified: false }),
		emptied,
	);
	t.is(uploadQueueReducer(emptied, { type: 'runEnded' }), emptied);
});

test('the dialog can be opened without files, and closes when the last file is removed', (t) => {
	const open = after({ type: 'dialogOpened' }, added('a'));
	t.true(open.isDialogOpen);
	t.false(uploadQueueReducer(open, { type: 'removed', username: 'ada', id: 1 }).isDialogOpen);
	t.is(uploadQueueReducer(open, { type: 'dialogClosed' }).items.length, 1);
});

test('the progress of a run counts its own files only', (t) => {
	const state = after(
		added('a', 'b'),
		{ type: 'runStarted', ids: [1, 2] },
		added('c'),
		{ type: 'itemStarted', id: 1, at: 0 },
		{ type: 'itemCompleted', id: 1, savedName: 'a', isVerified: false },
	);
	t.deepEqual(runProgress(state), { completed: 1, total: 2, uploadedSize: 10, totalSize: 20 });
});

test('an empty file is not done before its response', (t) => {
	t.is(fraction(0, 0), 0);
	t.is(fraction(12, 10), 1);
});

test('ten thousand files are added and summarized within a few frames', async (t) => {
	const names = Array.from({ length: 10_000 }, (_, index) => `file ${index}.txt`);
	let state = after(added(...names));
	summarize(state.items, 'ada');
	const milliseconds: number[] = [];
	for (let n = 0; n < 10; n++) {
		const ms = await usualMs(() => {
			state = uploadQueueReducer(state, { type: 'renamed', username: 'ada', id: 5000, name: `name ${n}` });
			summarize(state.items, 'ada');
		});
		milliseconds.push(ms);
	}
	t.true(Math.min(...milliseconds) < 50);
});

test('a file for a shared folder has no visibility, and keeps its folder whatever is set for all', (t) => {
	const target = { area: 'shared', directory: parsePath('Photos') } as const;
	const files = [{ file: new File(['a'], 'a.txt'), folder: rootPath }];
	const shared = uploadQueueReducer(emptyQueue, { type: 'added', files, target, isPublic: false, username: 'ada' });
	t.is(summarize(shared.items, 'ada').visibility, undefined);
	const own = { area: 'private', directory: rootPath } as const;
	const both = uploadQueueReducer(shared, { type: 'added', files, target: own, isPublic: false, username: 'ada' });
	t.is(summarize(both.items, 'ada').visibility, 'private');
	const published = uploadQueueReducer(both, { type: 'allVisibilityChanged', username: 'ada', isPublic: true });
	t.is(summarize(published.items, 'ada').visibility, 'public');
	t.deepEqual(published.items.map(areaOf), ['shared', 'public']);
	t.deepEqual(published.items.map(directoryOf), [parsePath('Photos'), rootPath]);
	const restored = uploadQueueReducer(published, { type: 'signedIn', username: 'ada' });
	t.deepEqual(restored.items.map(areaOf), ['shared', 'private']);
});
