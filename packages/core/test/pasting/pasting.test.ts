import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { DatabaseFull, DatabaseUnavailable, isOfDatabase } from '@stowage/database';
import type { Files, JobContext, JobKind, JobOwner, JobProgress } from '@stowage/plugin-api';
import { type Area, Failure, isFailure, parsePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { copyKind } from '../../src/pasting/copyKind.js';
import { moveKind } from '../../src/pasting/moveKind.js';
import type { PasteInput } from '../../src/pasting/pasteInput.js';
import { Client, file, json, testApp } from '../testApp.js';
import { until } from '../until.js';

/** A server with ada's home, and the kinds `copy` and `move` over its real files. */
async function setUp(t: ExecutionContext, flags: Record<string, string> = {}) {
	const app = await testApp(t, flags);
	const ada = await new Client(app).register('ada');
	const home = path.join(app.filesDir, 'users/ada');
	const user = await app.services.database.users.find('ada');
	if (user === undefined) throw new Error('There is no ada.');
	const viewer: JobOwner = { kind: 'user', id: user.id, username: 'ada' };
	const clock = { ms: 0, stepMs: 0 };
	const monotonic = () => {
		clock.ms += clock.stepMs;
		return clock.ms;
	};
	const kinds = { copy: copyKind({ ...app.services, monotonic }), move: moveKind(app.services) };
	const writeFiles = async (files: Record<string, string>) => {
		for (const [name, content] of Object.entries(files)) {
			await mkdir(path.dirname(path.join(home, name)), { recursive: true });
			await writeFile(path.join(home, name), content);
			await utimes(path.join(home, name), 1_500_000_000, 1_500_000_000);
		}
	};
	const staged = () => readdir(path.join(app.filesDir, '.stowage/staging'));
	/** The notes of the trash are written a moment after what they are of was moved there, and are staged until then. */
	const nothingStaged = () => until('nothing is staged', async () => (await staged()).length === 0);
	return { app, ada, home, viewer, kinds, writeFiles, staged, nothingStaged, clock };
}

function input(
	from: Area,
	to: Area,
	directory: string,
	...items: (string | PasteInput['items'][number])[]
): PasteInput {
	const named = items.map((item) => (typeof item === 'string' ? { path: parsePath(item) } : item));
	return { from, to, directory: parsePath(directory), items: named, address: '127.0.0.1' };
}

interface Recorded {
	progress: JobProgress[];
	/** The last saved checkpoint, as the database would have it. */
	saved: unknown;
	checkpoints: number;
}

interface RunOptions {
	saved?: unknown;
	/** The process ends at this checkpoint, after or before it is saved. */
	cutAt?: { checkpoint: number; isSaved: boolean };
	/** The checkpoint at which the owner cancels. */
	cancelAt?: number;
	/** It has a place for jobs that take at most so many seconds. */
	maxSeconds?: number;
}

/** Runs a kind as the job runner does, with checkpoints in memory. */
async function runKind(kind: JobKind<PasteInput>, viewer: JobOwner, given: PasteInput, options: RunOptions = {}) {
	const controller = new AbortController();
	const recorded: Recorded = { progress: [], saved: options.saved, checkpoints: 0 };
	let isCancelled = false;
	const job: JobContext<PasteInput> = {
		id: 'a job',
		viewer,
		input: await kind.input.parseAsync(JSON.parse(JSON.stringify(given))),
		attempt: 1,
		saved: options.saved === undefined ? undefined : JSON.parse(JSON.stringify(options.saved)),
		signal: controller.signal,
		get isCancelled() {
			return isCancelled;
		},
		privately: (work) => work(),
		async expect(seconds) {
			if (seconds <= (options.maxSeconds ?? Number.POSITIVE_INFINITY)) return;
			controller.abort(new Failure('conflict', 'It waits for a place for long work.'));
			throw controller.signal.reason;
		},
		async checkpoint(value) {
			const n = ++recorded.checkpoints;
			const isCut = options.cutAt?.checkpoint === n;
			if (!isCut || options.cutAt?.isSaved) recorded.saved = JSON.parse(JSON.stringify(value));
			if (n === options.cancelAt) {
				isCancelled = true;
				controller.abort(new Failure('conflict', 'It was cancelled.'));
			}
			if (!isCut) return;
			controller.abort(new Failure('unavailable', 'The server is stopping.'));
			throw controller.signal.reason;
		},
		progress: (progress) => void recorded.progress.push(progress),
	};
	try {
		return { result: await kind.run(job), error: undefined, recorded, isCut: false };
	} catch (error) {
		if (!(error instanceof Error)) throw error;
		return { result: undefined, error, recorded, isCut: controller.signal.aborted && !isCancelled };
	}
}

/** Runs a kind until it is not interrupted any more: each run ends at a checkpoint and resumes what the last one saved. */
async function runInterrupted(kind: JobKind<PasteInput>, viewer: JobOwner, given: PasteInput, isSaved: boolean) {
	let saved: unknown;
	for (let checkpoint = 1; ; checkpoint++) {
		const options: RunOptions = { saved, cutAt: { checkpoint: isSaved ? 1 + (checkpoint % 2) : checkpoint, isSaved } };
		const run = await runKind(kind, viewer, given, options);
		if (!run.isCut) return run;
		if (checkpoint > 100) throw new Error('It does not complete.');
		saved = run.recorded.saved;
	}
}

async function tree(root: string): Promise<Record<string, string>> {
	const found: Record<string, string> = {};
	for (const entry of await readdir(root, { withFileTypes: true, recursive: true })) {
		const at = path.join(entry.parentPath, entry.name);
		found[path.relative(root, at)] = entry.isFile() ? await readFile(at, 'utf8') : 'a folder';
	}
	return found;
}

test('items are copied under free names, and progress is reported in bytes', async (t) => {
	const { home, viewer, kinds, writeFiles, nothingStaged } = await setUp(t);
	await writeFiles({ 'a.txt': 'four', 'docs/b.txt': 'eleven byte', 'docs/deep/c.txt': '', 'to/a.txt': 'taken' });
	const { result, recorded } = await runKind(kinds.copy, viewer, input('private', 'private', 'to', 'a.txt', 'docs'));
	t.deepEqual(result, { done: 2, failed: 0, errors: [], renamed: [[0, 'a (1).txt']] });
	t.deepEqual(await tree(path.join(home, 'to')), {
		'a.txt': 'taken',
		'a (1).txt': 'four',
		docs: 'a folder',
		'docs/b.txt': 'eleven byte',
		'docs/deep': 'a folder',
		'docs/deep/c.txt': '',
	});
	t.like(recorded.progress.at(-1), { done: 15, total: 15, unit: 'bytes', detail: { done: 2, failed: 0 } });
	await nothingStaged();
});

for (const isSaved of [true, false]) {
	const where = isSaved ? 'after' : 'before';
	test(`a copy that is interrupted ${where} each checkpoint is saved makes one copy of each item`, async (t) => {
		const { home, viewer, kinds, writeFiles, staged } = await setUp(t);
		const taken = { 'to/a': 'taken', 'to/docs/own': 'taken', 'to/docs (1)': 'taken' };
		await writeFiles({ a: 'one', 'docs/b': 'two', 'docs/deep/c': 'three', d: 'four', ...taken });
		const { result } = await runInterrupted(
			kinds.copy,
			viewer,
			input('private', 'private', 'to', 'a', 'docs', 'd'),
			isSaved,
		);
		const renamed = [
			[0, 'a (1)'],
			[1, 'docs (2)'],
		];
		t.deepEqual(result, { done: 3, failed: 0, errors: [], renamed });
		t.deepEqual(await tree(path.join(home, 'to')), {
			a: 'taken',
			'a (1)': 'one',
			d: 'four',
			docs: 'a folder',
			'docs/own': 'taken',
			'docs (1)': 'taken',
			'docs (2)': 'a folder',
			'docs (2)/b': 'two',
			'docs (2)/deep': 'a folder',
			'docs (2)/deep/c': 'three',
		});
		const left = (await staged()).length;
		// A staged copy that no checkpoint has saved is left for the sweep.
		t.true(isSaved ? left === 0 : left <= 3);
	});

	test(`a move that is interrupted ${where} each checkpoint is saved moves each item once`, async (t) => {
		const { home, viewer, kinds, writeFiles } = await setUp(t);
		await writeFiles({ a: 'one', 'docs/b': 'two', d: 'four', 'to/a': 'taken' });
		const { result } = await runInterrupted(
			kinds.move,
			viewer,
			input('private', 'private', 'to', 'a', 'docs', 'd'),
			isSaved,
		);
		t.deepEqual(result, { done: 3, failed: 0, errors: [], renamed: [[0, 'a (1)']] });
		t.deepEqual(await tree(path.join(home, 'to')), {
			a: 'taken',
			'a (1)': 'one',
			docs: 'a folder',
			'docs/b': 'two',
			d: 'four',
		});
		t.deepEqual((await readdir(home)).sort(), ['Public', 'to']);
	});
}

/** A server whose home of bob is on another root than that of ada, with a public file of his. */
async function withTwoRoots(t: ExecutionContext) {
	const fixture = await setUp(t);
	const { app } = fixture;
	const disk = await mkdtemp(path.join(os.tmpdir(), 'stowage-disk-'));
	// The server still writes there for a moment.
	t.teardown(() => rm(disk, { recursive: true, force: true, maxRetries: 10 }));
	const big = path.join(disk, 'root');
	await app.services.rootAdministration.add('big', 'local', big);
	await app.services.rootAdministration.setDefault('big');
	await new Client(app).register('bob');
	const far = path.join(big, 'users/bob/Public');
	await writeFile(path.join(far, 'a'), 'from afar');
	return { ...fixture, far };
}

for (const isSaved of [true, false]) {
	const where = isSaved ? 'after' : 'before';
	test(`pastes that replace are done once for each item, also across roots, if they are interrupted ${where} each checkpoint is saved`, async (t) => {
		const { home, viewer, kinds, writeFiles, far } = await withTwoRoots(t);
		await writeFile(path.join(far, 'b'), 'b from afar');
		const old = { 'to/a': 'old', 'to/docs/own': 'taken' };
		await writeFiles({ a: 'one', 'docs/b': 'two', d: 'four', ...old });
		const message = 'There is already a file or folder named docs';
		const faults = [{ index: 1, path: 'docs', message, code: 'ALREADY_EXISTS' }];
		const replace = { onConflict: 'replace' as const };
		const near = { ...input('private', 'private', 'to', 'a', 'docs', 'd'), ...replace };
		const copied = await runInterrupted(kinds.copy, viewer, near, isSaved);
		t.deepEqual(copied.result, { done: 2, failed: 1, errors: faults });
		const expected = { a: 'one', d: 'four', docs: 'a folder', 'docs/own': 'taken' };
		t.deepEqual(await tree(path.join(home, 'to')), expected);

		const items = ['a', 'b'].map((name) => ({ path: parsePath(name), owner: 'bob' }));
		await writeFiles({ 'to/b': 'old b' });
		const across = { ...input('public', 'private', 'to', ...items), ...replace };
		const crossed = await runInterrupted(kinds.copy, viewer, across, isSaved);
		t.deepEqual(crossed.result, { done: 2, failed: 0, errors: [] });
		t.deepEqual(await tree(path.join(home, 'to')), { ...expected, a: 'from afar', b: 'b from afar' });

		const moved = await runInterrupted(kinds.move, viewer, near, isSaved);
		t.deepEqual(moved.result, { done: 2, failed: 1, errors: faults });
		t.deepEqual(await tree(path.join(home, 'to')), { ...expected, b: 'b from afar' });
		t.deepEqual((await readdir(home)).sort(), ['Public', 'docs', 'to']);
	});

	test(`a paste that fails where names are taken keeps to that if it is interrupted ${where} each checkpoint is saved`, async (t) => {
		const { home, viewer, kinds, writeFiles } = await setUp(t);
		await writeFiles({ a: 'one', 'docs/b': 'two', d: 'four', 'to/d': 'old' });
		const given = { ...input('private', 'private', 'to', 'a', 'docs', 'd'), onConflict: 'fail' as const };
		const message = 'There is already a file or folder named d';
		const errors = [{ index: 2, path: 'd', message, code: 'ALREADY_EXISTS' }];
		for (const kind of [kinds.copy, kinds.move]) {
			t.deepEqual((await runInterrupted(kind, viewer, given, isSaved)).result, { done: 2, failed: 1, errors });
			const expected = { a: 'one', d: 'old', docs: 'a folder', 'docs/b': 'two' };
			t.deepEqual(await tree(path.join(home, 'to')), expected);
			await rm(path.join(home, 'to/a'));
			await rm(path.join(home, 'to/docs'), { recursive: true });
		}
	});
}

test('a paste over one version takes effect once, also across roots, if the process ends before it can record that', async (t) => {
	const { app, home, viewer, kinds, writeFiles, clock } = await withTwoRoots(t);
	await writeFiles({ a: 'one', 'to/a': 'old' });
	const { files } = app.services;
	const etag = async () => {
		const { file: opened } = await files.open(viewer, { area: 'private', path: parsePath('to/a') });
		await opened.close();
		return `"${opened.item.version}"`;
	};
	const thenDies = <Call extends unknown[]>(work: (...call: Call) => Promise<unknown>) => {
		return async (...call: Call): Promise<never> => {
			await work(...call);
			throw new Error('the power went');
		};
	};
	const dying = { ...files, copy: thenDies(files.copy), move: thenDies(files.move) };
	const copying = copyKind({ ...app.services, files: dying, monotonic: () => clock.ms });
	for (const [kind, dyingKind, given] of [
		[kinds.copy, copying, input('private', 'private', 'to', 'a')],
		[kinds.copy, copying, input('public', 'private', 'to', { path: parsePath('a'), owner: 'bob' })],
		[kinds.move, moveKind({ ...app.services, files: dying }), input('private', 'private', 'to', 'a')],
	] as const) {
		const wish = { ...given, onConflict: 'replace' as const, ifMatch: await etag() };
		const { error, recorded } = await runKind(dyingKind, viewer, wish);
		t.is(error?.message, 'the power went');
		const done = await etag();
		const { result } = await runKind(kind, viewer, wish, { saved: recorded.saved });
		t.like(result, { done: 1, failed: 0, entry: { path: 'to/a' } });
		t.is(await etag(), done, 'it was replaced once');
		if (kind === kinds.move) continue;
		const stale = await runKind(kind, viewer, wish);
		t.true(isFailure(stale.error, 'preconditionFailed'), 'another job is another paste');
		// Somebody has replaced it since: it can’t be found, and theirs is not the version that was to be replaced.
		await writeFiles({ new: 'theirs' });
		await rename(path.join(home, 'new'), path.join(home, 'to/a'));
		const late = await runKind(kind, viewer, wish, { saved: recorded.saved });
		t.true(isFailure(late.error, 'preconditionFailed'));
		t.is(await readFile(path.join(home, 'to/a'), 'utf8'), 'theirs');
	}
	t.deepEqual(await tree(path.join(home, 'to')), { a: 'one' });
	t.deepEqual((await readdir(home)).sort(), ['Public', 'to']);
});

test('a resumed move finds an item that was moved but not saved as done, and leaves a new item of its old name alone', async (t) => {
	const { app, home, viewer, kinds, writeFiles } = await setUp(t);
	await writeFiles({ a: 'one', 'to/a': 'taken' });
	const given = input('private', 'private', 'to', 'a');
	const cut = await runKind(kinds.move, viewer, given, { cutAt: { checkpoint: 1, isSaved: true } });
	t.true(cut.isCut);
	await app.services.files.move(viewer, { area: 'private', path: parsePath('a') }, parsePath('to/a'));
	await writeFiles({ a: 'somebody’s new one' });
	const { result } = await runKind(kinds.move, viewer, given, { saved: cut.recorded.saved });
	t.like(result, { done: 1, failed: 0, entry: { path: 'to/a (1)', size: 3 } });
	t.is(await readFile(path.join(home, 'a'), 'utf8'), 'somebody’s new one');
});

for (const isSaved of [true, false]) {
	test(`a move into a shared folder is done once, wherever it is interrupted, after a checkpoint is saved: ${isSaved}`, async (t) => {
		const { app, ada, home, viewer, kinds, writeFiles, nothingStaged } = await setUp(t);
		const bob = await new Client(app).register('bob');
		await bob.post('/api/createFolder', { directory: '', folderName: 'inbox', type: 'private' });
		const members = [{ username: 'ada', role: 'edit' }];
		t.is((await bob.call('PUT', '/api/members', { path: 'inbox', members })).statusCode, 200);
		await writeFiles({ a: 'one', 'd/x': 'two', 'd/y/z': 'three' });
		const given = input('private', 'shared', 'inbox', 'a', 'd');
		const { result, error } = await runInterrupted(kinds.move, viewer, given, isSaved);
		t.is(error, undefined);
		t.like(result, { done: 2, failed: 0 });
		const inbox = path.join(app.filesDir, 'users/bob/inbox');
		t.deepEqual(await tree(inbox), { a: 'one', d: 'a folder', 'd/x': 'two', 'd/y': 'a folder', 'd/y/z': 'three' });
		t.deepEqual(await readdir(home), ['Public']);
		// A copy that no checkpoint knows is swept later.
		if (isSaved) await nothingStaged();
		t.is(json(await ada.get('/api/trash')).entries.length, 2);
	});
}

for (const kindOf of [copyKind, moveKind])
	test(`a paste of gigabytes gives back a place for small ones, and goes on in another: ${kindOf.name}`, async (t) => {
		const { app, viewer, writeFiles, inbox } = await setUpInbox(t, {});
		await writeFiles({ film: 'one' });
		const { files } = app.services;
		const large: Files = {
			...files,
			async *stat(...call) {
				for await (const item of files.stat(...call)) yield { ...item, size: 5_000_000_000 };
			},
			copy: (_viewer, _from, _to, options) =>
				new Promise((_, reject) => {
					const { signal } = options ?? {};
					if (signal?.aborted) reject(signal.reason);
					signal?.addEventListener('abort', () => reject(signal.reason));
				}),
		};
		const monotonic = () => 0;
		const kind = kindOf({ ...app.services, files: large, monotonic });
		t.true((kind.short?.places ?? 0) > 1);
		const given = input('private', 'shared', 'inbox', 'film');
		const run = await runKind(kind, viewer, given, { maxSeconds: kind.short?.seconds ?? 0 });
		t.true(run.isCut);
		t.deepEqual(await readdir(inbox), []);
		const { result } = await runKind(kindOf({ ...app.services, monotonic }), viewer, given, {
			saved: run.recorded.saved,
		});
		t.like(result, { done: 1, failed: 0 });
		t.deepEqual(await readdir(inbox), ['film']);
	});

/** Ada's folder `d` and bob's `inbox`, of which she is a member, with moves that are disturbed. */
async function setUpInbox(
	t: ExecutionContext,
	given: { whileCopied?: () => Promise<void>; copied?: () => Promise<void> },
) {
	const all = await setUp(t);
	const { app, writeFiles } = all;
	const bob = await new Client(app).register('bob');
	await bob.post('/api/createFolder', { directory: '', folderName: 'inbox', type: 'private' });
	const members = [{ username: 'ada', role: 'edit' }];
	t.is((await bob.call('PUT', '/api/members', { path: 'inbox', members })).statusCode, 200);
	await writeFiles({ 'd/x': 'two', 'd/y/z': 'three' });
	const services = app.services;
	const files: Files = {
		...services.files,
		async copy(viewer, item, to, options) {
			let isFirst = true;
			const entry = await services.files.copy(viewer, item, to, {
				...options,
				async beforeNaming(name) {
					if (isFirst) await given.whileCopied?.();
					isFirst = false;
					await options?.beforeNaming?.(name);
				},
			});
			await given.copied?.();
			return entry;
		},
	};
	const moves = moveKind({ ...services, files });
	return {
		...all,
		files,
		moves,
		inbox: path.join(app.filesDir, 'users/bob/inbox'),
		moved: input('private', 'shared', 'inbox', 'd'),
	};
}

test('what is renamed, added and written in a folder while it is moved into a shared folder goes along', async (t) => {
	let pass = 0;
	const all = await setUpInbox(t, {
		async whileCopied() {
			if (++pass > 1) return;
			await rename(path.join(all.home, 'd/y'), path.join(all.home, 'd/renamed'));
			await all.writeFiles({ 'd/late': 'late', 'd/x': 'rewritten' });
		},
	});
	const { ada, home, inbox, viewer, moves, moved, nothingStaged } = all;
	const { result, error } = await runKind(moves, viewer, moved);
	t.is(error, undefined);
	t.like(result, { done: 1, failed: 0 });
	t.is(pass, 2);
	t.deepEqual(await tree(inbox), {
		d: 'a folder',
		'd/late': 'late',
		'd/renamed': 'a folder',
		'd/renamed/z': 'three',
		'd/x': 'rewritten',
	});
	t.deepEqual(await readdir(home), ['Public']);
	await nothingStaged();
	t.is(json(await ada.get('/api/trash')).entries.length, 1);
});

test('a folder that changes all the time is not moved into a shared folder, and all of it stays', async (t) => {
	let n = 0;
	const all = await setUpInbox(t, { whileCopied: () => all.writeFiles({ [`d/late ${n++}`]: 'late' }) });
	const { ada, home, inbox, viewer, moves, moved, nothingStaged } = all;
	const { error, recorded } = await runKind(moves, viewer, moved);
	t.true(isFailure(error, 'conflict'));
	t.is(
		error?.message,
		'd was changed while it was copied, and stays where it was. Move it again once nothing changes in it.',
	);
	t.deepEqual(await tree(inbox), {});
	t.is((await readdir(path.join(home, 'd'))).length, 2 + n);
	await nothingStaged();
	t.deepEqual(json(await ada.get('/api/trash')).entries, []);
	t.like((await runKind(all.kinds.move, viewer, moved, { saved: recorded.saved })).result, { done: 1, failed: 0 });
	t.is((await readdir(path.join(inbox, 'd'))).length, 2 + n);
});

test('a folder with what its copy would lack is not moved into a shared folder, and all of it stays', async (t) => {
	const all = await setUpInbox(t, {});
	const { ada, home, inbox, viewer, moves, moved, nothingStaged } = all;
	await symlink('x', path.join(home, 'd/y/link'));
	const { error } = await runKind(moves, viewer, moved);
	t.true(isFailure(error, 'conflict'));
	t.regex(error?.message ?? '', /^d has something that its copy would lack \(a link, .*\), and stays where it was\./);
	t.deepEqual(await tree(inbox), {});
	t.deepEqual(await readdir(path.join(home, 'd/y')), ['link', 'z']);
	await nothingStaged();
	t.deepEqual(json(await ada.get('/api/trash')).entries, []);
	await rm(path.join(home, 'd/y/link'));
	t.like((await runKind(moves, viewer, moved)).result, { done: 1, failed: 0 });
	t.deepEqual(await tree(inbox), { d: 'a folder', 'd/x': 'two', 'd/y': 'a folder', 'd/y/z': 'three' });
});

test('a folder that is changed once its copy is in a shared folder stays too', async (t) => {
	const all = await setUpInbox(t, { copied: () => all.writeFiles({ 'd/late': 'late' }) });
	const { ada, home, inbox, viewer, moves, moved } = all;
	const { error } = await runKind(moves, viewer, moved);
	t.true(isFailure(error, 'conflict'));
	t.regex(String(error?.message), /^d was changed after it was copied, and stays where it was/);
	t.is(await readFile(path.join(home, 'd/late'), 'utf8'), 'late');
	t.deepEqual((await readdir(path.join(inbox, 'd'))).sort(), ['x', 'y']);
	t.deepEqual(json(await ada.get('/api/trash')).entries, []);
});

test('a folder that is changed between two runs of its move is not removed with what the copy lacks', async (t) => {
	const { home, viewer, moves, moved, writeFiles } = await setUpInbox(t, {});
	// The copy is in its place, and the run ends as that is saved.
	const cut = await runKind(moves, viewer, moved, { cutAt: { checkpoint: 3, isSaved: false } });
	t.true(cut.isCut);
	await writeFiles({ 'd/late': 'late' });
	const { error } = await runKind(moves, viewer, moved, { saved: cut.recorded.saved });
	t.true(isFailure(error, 'conflict'));
	t.is(await readFile(path.join(home, 'd/late'), 'utf8'), 'late');
});

const afterCopy = { checkpoint: 3, isSaved: true };

for (const [what, change] of Object.entries<(d: string) => Promise<void>>({
	deleted: (d) => rm(d, { recursive: true }),
	'deleted in part': (d) => rm(path.join(d, 'y/z')),
	changed: (d) => writeFile(path.join(d, 'x'), 'owt'),
	'made longer': (d) => writeFile(path.join(d, 'y/z'), 'much longer'),
	'replaced by another folder': async (d) => {
		await rename(d, `${d}.away`);
		await rm(`${d}.away`, { recursive: true });
		await mkdir(d);
	},
})) {
	test(`an original whose copy in a shared folder was ${what} before the move went on is kept, and the job says so`, async (t) => {
		const { ada, home, inbox, viewer, moves, moved } = await setUpInbox(t, {});
		const cut = await runKind(moves, viewer, moved, { cutAt: afterCopy });
		t.true(cut.isCut);
		t.regex(JSON.stringify(cut.recorded.saved), / copied to inbox\/d/);
		await change(path.join(inbox, 'd'));
		const { error } = await runKind(moves, viewer, moved, { saved: cut.recorded.saved });
		t.true(isFailure(error, 'conflict'));
		t.regex(String(error?.message), /^d stays where it was: its copy was deleted or changed/);
		t.is(await readFile(path.join(home, 'd/y/z'), 'utf8'), 'three');
		t.is(await readFile(path.join(home, 'd/x'), 'utf8'), 'two');
		t.deepEqual(json(await ada.get('/api/trash')).entries, []);
	});
}

for (const [what, place] of Object.entries({ renamed: 'e', 'moved to another folder': 'deep/er/d' })) {
	test(`a move whose copy in a shared folder was ${what}, and got more, before it went on is completed`, async (t) => {
		const { ada, home, inbox, viewer, moves, moved } = await setUpInbox(t, {});
		const cut = await runKind(moves, viewer, moved, { cutAt: afterCopy });
		t.true(cut.isCut);
		await mkdir(path.dirname(path.join(inbox, place)), { recursive: true });
		await rename(path.join(inbox, 'd'), path.join(inbox, place));
		await writeFile(path.join(inbox, place, 'more'), 'more');
		const { result, error } = await runKind(moves, viewer, moved, { saved: cut.recorded.saved });
		t.is(error, undefined);
		t.like(result, { done: 1, failed: 0, entry: { path: `inbox/${place}` } });
		t.deepEqual(await readdir(home), ['Public']);
		t.is(json(await ada.get('/api/trash')).entries.length, 1);
	});
}

test('a move into a shared folder that is cancelled once its copy is there removes nothing, and says so', async (t) => {
	const { ada, home, inbox, viewer, moves, moved } = await setUpInbox(t, {});
	const { error } = await runKind(moves, viewer, moved, { cancelAt: afterCopy.checkpoint });
	t.is(error?.message, 'Nothing was done. d was copied already, and the copy is kept.');
	t.is(await readFile(path.join(home, 'd/y/z'), 'utf8'), 'three');
	t.is(await readFile(path.join(inbox, 'd/y/z'), 'utf8'), 'three');
	t.deepEqual(json(await ada.get('/api/trash')).entries, []);
});

for (const [what, change] of Object.entries({
	'a file that arrives in it': ['d', 'd/late'],
	'what is written into it': ['d', 'd/x'],
	'what is written into a single file': ['f', 'f'],
	'a file that takes the place of it': ['f', 'replaced'],
})) {
	test(`a move into a shared folder does not take along ${what} once the last comparison is done`, async (t) => {
		const all = await setUpInbox(t, {});
		const { app, ada, home, inbox, viewer, files, writeFiles } = all;
		await writeFiles({ f: 'a file' });
		const [item = '', changed = ''] = change;
		const late: Files = {
			...files,
			async remove(...args) {
				if (changed === 'replaced') {
					await writeFiles({ other: 'late' });
					await rename(path.join(home, 'other'), path.join(home, item));
				} else await writeFiles({ [changed]: 'late' });
				return files.remove(...args);
			},
		};
		const moved = input('private', 'shared', 'inbox', item);
		const { error } = await runKind(moveKind({ ...app.services, files: late }), viewer, moved);
		t.true(isFailure(error, 'conflict'));
		t.regex(String(error?.message), new RegExp(`^${item} was changed after it was copied, and stays where it was`));
		t.is(await readFile(path.join(home, changed === 'replaced' ? item : changed), 'utf8'), 'late');
		t.deepEqual(await readdir(inbox), [item]);
		t.deepEqual(json(await ada.get('/api/trash')).entries, []);
	});
}

test('nothing can arrive in a folder while it is compared for the last time, and it is back where that fails', async (t) => {
	const { app, ada, home, inbox, viewer, files, moved } = await setUpInbox(t, {});
	const failing: Files = {
		...files,
		remove: (remover, ref, options) =>
			files.remove(remover, ref, {
				...options,
				async isMeant(taken) {
					await t.throwsAsync(writeFile(path.join(home, 'd/late'), 'late'), { code: 'ENOENT' });
					t.true(await options?.isMeant?.(taken));
					for await (const _ of taken.list(parsePath('gone')));
					return true;
				},
			}),
	};
	const { error } = await runKind(moveKind({ ...app.services, files: failing }), viewer, moved);
	t.regex(String(error?.message), /^d was changed after it was copied, and stays where it was/);
	t.deepEqual((await readdir(path.join(home, 'd'))).sort(), ['x', 'y']);
	t.deepEqual(await readdir(inbox), ['d']);
	t.deepEqual(json(await ada.get('/api/trash')).entries, []);
});

test('a home that is frozen as the original is to be removed gets the item once', async (t) => {
	const { app, home, inbox, viewer, files, moved } = await setUpInbox(t, {});
	let refusals = 1;
	const frozen: Files = {
		...files,
		async remove(...args) {
			if (refusals-- > 0) throw new Failure('locked', 'The home is being moved.');
			return files.remove(...args);
		},
	};
	const { result } = await runKind(moveKind({ ...app.services, files: frozen }), viewer, moved);
	t.like(result, { done: 1, failed: 0 });
	t.deepEqual(await readdir(inbox), ['d']);
	t.deepEqual(await readdir(home), ['Public']);
});

test('items that can’t be copied are reported with their reasons, and the others are copied', async (t) => {
	const { app, home, viewer, kinds, writeFiles } = await setUp(t);
	await new Client(app).register('bob');
	await writeFile(path.join(app.filesDir, 'users/bob/Public/theirs'), 'public');
	await writeFiles({ a: 'one', b: 'two', 'to/x': 'x' });
	await rm(path.join(home, 'a'));
	const { result } = await runKind(
		kinds.copy,
		viewer,
		input('private', 'private', 'to', 'a', 'Public', 'to', 'b', { path: parsePath('x'), owner: 'bob' }),
	);
	t.deepEqual(result, {
		done: 1,
		failed: 4,
		errors: [
			{ index: 0, path: 'a', message: 'No such file or folder: a', code: 'NOT_FOUND' },
			{ index: 1, path: 'Public', message: 'Cannot copy protected folders', code: 'PROTECTED' },
			{ index: 2, path: 'to', message: 'Cannot copy a folder into itself', code: 'INVALID' },
			{ index: 4, path: 'x', message: 'You do not own any of the selected items', code: 'NOT_OWNER' },
		],
	});
	t.deepEqual((await readdir(path.join(home, 'to'))).sort(), ['b', 'x']);
	const fromPublic = input('public', 'private', 'to', { path: parsePath('theirs'), owner: 'bob' });
	t.like((await runKind(kinds.copy, viewer, fromPublic)).result, { done: 1, entry: { path: 'to/theirs' } });
});

test('a paste fails if no item could be pasted, and a retry tries all of them again', async (t) => {
	const { home, viewer, kinds, writeFiles } = await setUp(t);
	for (const kind of [kinds.copy, kinds.move]) {
		const single = await runKind(kind, viewer, input('private', 'private', 'to', 'none'));
		t.true(isFailure(single.error, 'notFound'));
		t.is(single.error?.message, 'No such file or folder: none');
		t.like(single.recorded.progress.at(-1)?.detail, { done: 0, failed: 1 });
		const given = input('private', 'private', 'to', 'none', 'neither');
		const { error, recorded } = await runKind(kind, viewer, given);
		t.is(error?.message, 'Nothing was done. No such file or folder: neither');
		await writeFiles({ none: 'now', neither: 'it is' });
		t.like((await runKind(kind, viewer, given, { saved: recorded.saved })).result, { done: 2, failed: 0 });
		for (const name of ['none', 'neither']) await rm(path.join(home, name), { force: true });
	}
});

test('a long list of errors is cut in the result', async (t) => {
	const { viewer, kinds, writeFiles } = await setUp(t);
	await writeFiles({ a: 'one' });
	const names = Array.from({ length: 2000 }, (_, n) => `${'gone '.repeat(40)}${n}`);
	const { result } = await runKind(kinds.move, viewer, input('private', 'private', 'to', 'a', ...names));
	t.like(result, { done: 1, failed: 2000 });
	t.true(JSON.stringify(result).length < 16 * 1024);
	t.true(((result?.errors ?? []) as unknown[]).length > 5);
});

test('a long list of new names is cut in the result, which counts the others', async (t) => {
	const { viewer, kinds, writeFiles } = await setUp(t);
	const names = Array.from({ length: 300 }, (_, n) => `a photo of the holiday ${n}.jpg`);
	await writeFiles(Object.fromEntries(names.map((name) => [name, '1'])));
	const { result } = await runKind(kinds.copy, viewer, input('private', 'private', '', ...names));
	t.like(result, { done: 300, failed: 0 });
	const { renamed, unlisted } = result as { renamed: [number, string][]; unlisted: number };
	t.true(renamed.length > 100 && unlisted > 0);
	t.is(renamed.length + unlisted, 300);
	const last = renamed.length - 1;
	t.deepEqual(renamed.at(-1), [last, `a photo of the holiday ${last} (1).jpg`]);
	t.true(Buffer.byteLength(JSON.stringify(result)) < 8 * 1024);
});

test('a cancelled copy or move leaves no part of the item under way, and reports how many items were done', async (t) => {
	const { home, viewer, kinds, writeFiles, nothingStaged } = await setUp(t);
	await writeFiles({ a: 'one', 'docs/b': 'two', d: 'four' });
	const given = input('private', 'private', 'to', 'a', 'docs', 'd');
	const { error, recorded } = await runKind(kinds.copy, viewer, given, { cancelAt: 2 });
	t.is(error?.message, 'Copied 1 of 3 items.');
	t.deepEqual(await tree(path.join(home, 'to')), { a: 'one' });
	await nothingStaged();
	const again = await runKind(kinds.copy, viewer, given, { saved: recorded.saved });
	t.like(again.result, { done: 3, failed: 0 });
	t.deepEqual((await readdir(path.join(home, 'to'))).sort(), ['a', 'd', 'docs']);

	const moved = await runKind(kinds.move, viewer, input('private', 'private', 'there', 'a', 'd'), { cancelAt: 1 });
	t.is(moved.error?.message, 'Moved 1 of 2 items.');
	t.deepEqual(await readdir(path.join(home, 'there')), ['a']);
	const nothing = await runKind(kinds.copy, viewer, input('private', 'private', 'new', 'd'), { cancelAt: 1 });
	t.is(nothing.error?.message, 'Nothing was done.');
	t.false((await readdir(home)).includes('new'));
});

for (const [what, lack] of [
	['away', new DatabaseUnavailable(new Error('connect ECONNREFUSED'))],
	['full', new DatabaseFull(new Error('database or disk is full'))],
] as const) {
	test(`a copy whose database is ${what} for a moment goes on with what it has copied`, async (t) => {
		const { app, home, viewer, kinds, writeFiles, staged, nothingStaged } = await setUp(t);
		await writeFiles({ a: 'one', 'docs/b': 'two', 'docs/c': 'three', 'docs/d': 'four' });
		const given = input('private', 'private', 'to', 'a', 'docs');
		const { files } = app.services;
		let left = 3;
		const broken: Files = {
			...files,
			copy: (from, item, to, options) =>
				files.copy(from, item, to, {
					...options,
					async beforeItem(each) {
						await options?.beforeItem?.(each);
						if (each.type === 'file' && left-- === 0) throw lack;
					},
				}),
		};
		const first = await runKind(copyKind({ ...app.services, files: broken, monotonic: () => 0 }), viewer, given);
		t.is(first.error?.message, `Copied 1 of 2 items. ${lack.message}`);
		t.true(isOfDatabase(first.error));
		const [copy = '', ...others] = await staged();
		t.deepEqual(others, []);
		const { ino } = await stat(path.join(app.filesDir, '.stowage/staging', copy));
		const again = await runKind(kinds.copy, viewer, given, { saved: first.recorded.saved });
		t.deepEqual(again.result, { done: 2, failed: 0, errors: [] });
		t.deepEqual(await tree(path.join(home, 'to/docs')), await tree(path.join(home, 'docs')));
		t.is((await stat(path.join(home, 'to/docs'))).ino, ino);
		t.deepEqual(await readdir(path.join(home, 'to')), ['a', 'docs']);
		await nothingStaged();
	});

	test(`a move into a shared folder whose database is ${what} for a moment goes on with what it has copied`, async (t) => {
		let isAway = true;
		const all = await setUpInbox(t, {
			async whileCopied() {
				if (isAway) throw lack;
			},
		});
		const { app, home, inbox, viewer, moves, moved, staged, nothingStaged } = all;
		const first = await runKind(moves, viewer, moved);
		t.is(first.error?.message, lack.message);
		const [copy = ''] = await staged();
		const { ino } = await stat(path.join(app.filesDir, '.stowage/staging', copy));
		isAway = false;
		const { result } = await runKind(moves, viewer, moved, { saved: first.recorded.saved });
		t.like(result, { done: 1, failed: 0 });
		t.deepEqual(await tree(inbox), { d: 'a folder', 'd/x': 'two', 'd/y': 'a folder', 'd/y/z': 'three' });
		t.is((await stat(path.join(inbox, 'd'))).ino, ino);
		t.deepEqual(await readdir(home), ['Public']);
		await nothingStaged();
	});
}

test('a full home stops a copy with the reason, and a retry continues it once there is space', async (t) => {
	const { app, home, viewer, kinds, writeFiles, nothingStaged } = await setUp(t, { '--quotas-user-bytes': '64 KB' });
	await writeFiles({ a: 'x'.repeat(20_000), 'docs/b': 'x'.repeat(20_000), d: 'four' });
	const given = input('private', 'private', 'to', 'a', 'docs', 'd');
	const first = await runKind(kinds.copy, viewer, given);
	t.true(isFailure(first.error, 'storageFull'));
	t.regex(first.error?.message ?? '', /^Copied 1 of 3 items\. You may keep 64\.0 KB here, and .* of that is left\.$/);
	t.like(first.recorded.progress.at(-1)?.detail, {
		done: 1,
		failed: 0,
		errors: [{ index: 1, path: 'docs', code: 'STORAGE_FULL' }],
	});
	t.deepEqual(await readdir(path.join(home, 'to')), ['a']);
	await nothingStaged();
	await app.services.files.remove(viewer, { area: 'private', path: parsePath('a') });
	const again = await runKind(kinds.copy, viewer, given, { saved: first.recorded.saved });
	t.deepEqual(again.result, { done: 3, failed: 0, errors: [] });
	t.deepEqual((await readdir(path.join(home, 'to'))).sort(), ['a', 'd', 'docs']);
});

test('a move of which the disk says only that it has failed is not said to have done nothing', async (t) => {
	const { app, home, viewer, kinds, writeFiles } = await setUp(t);
	await writeFiles({ a: 'one', b: 'two' });
	const { storage } = app.services.roots.first;
	const move = storage.move.bind(storage);
	storage.move = async (...given) => {
		await move(...given);
		throw new Failure('unavailable', 'The disk has failed.');
	};
	const { error } = await runKind(kinds.move, viewer, input('private', 'private', 'to', 'a', 'b'));
	storage.move = move;
	t.is(error?.message, 'The disk has failed.');
	t.deepEqual(await readdir(path.join(home, 'to')), ['a']);
});

test('a copy fails if the disk has no space beyond the reserve', async (t) => {
	const { home, viewer, kinds, writeFiles, nothingStaged } = await setUp(t, {
		'--uploads-free-space-reserve': '900 TB',
	});
	await writeFiles({ 'docs/b': 'x'.repeat(20_000), d: 'four' });
	const { error } = await runKind(kinds.copy, viewer, input('private', 'private', 'to', 'docs', 'd'));
	t.is(error?.message, 'Nothing was done. There is not enough free space.');
	t.false((await readdir(home)).includes('to'));
	await nothingStaged();
});

test('a resumed copy is refused if its owner’s quota was used up meanwhile', async (t) => {
	const { ada, viewer, kinds, writeFiles } = await setUp(t, { '--quotas-user-entries': '8' });
	await writeFiles({ 'docs/b': 'b', 'docs/c': 'c' });
	const given = input('private', 'private', 'to', 'docs');
	const cut = await runKind(kinds.copy, viewer, given, { cutAt: { checkpoint: 1, isSaved: true } });
	t.true(cut.isCut);
	for (const name of ['e', 'f', 'g']) await ada.upload('/api/upload', [file(name, name)]);
	const { error } = await runKind(kinds.copy, viewer, given, { saved: cut.recorded.saved });
	t.true(isFailure(error, 'storageFull'), error?.message);
});

test('an item keeps its id through moves to Public and back, and its link works until it is public', async (t) => {
	const { ada, home, viewer, kinds, writeFiles } = await setUp(t);
	await writeFiles({ 'docs/a': 'one', 'docs/deep/b': 'two' });
	const { token } = json(await ada.post('/api/generateTempLink', { filePath: 'docs/a', expiration: '1h' }));
	const { ino } = await stat(path.join(home, 'docs/a'));
	const follow = async () => (await ada.get(`/api/temp/${token}`)).statusCode;
	t.like((await runKind(kinds.move, viewer, input('private', 'private', 'other/new', 'docs/a'))).result, { done: 1 });
	t.is(await follow(), 200);
	const toPublic = await runKind(kinds.move, viewer, input('private', 'public', 'shown', 'other/new/a', 'docs'));
	t.like(toPublic.result, { done: 2, failed: 0 });
	t.deepEqual(await tree(path.join(home, 'Public')), {
		shown: 'a folder',
		'shown/a': 'one',
		'shown/docs': 'a folder',
		'shown/docs/deep': 'a folder',
		'shown/docs/deep/b': 'two',
	});
	t.is(await follow(), 404);
	const back = input('public', 'private', '', { path: parsePath('shown/a'), owner: 'ada' });
	t.like((await runKind(kinds.move, viewer, back)).result, { done: 1 });
	t.is((await stat(path.join(home, 'a'))).ino, ino);
});

test('a copy of many files that takes long saves checkpoints on the way', async (t) => {
	const { viewer, kinds, writeFiles, clock } = await setUp(t);
	await writeFiles({ 'docs/a': 'one', 'docs/b': 'two', 'docs/c': 'three' });
	const given = input('private', 'private', 'to', 'docs');
	t.is((await runKind(kinds.copy, viewer, given)).recorded.checkpoints, 1);
	clock.stepMs = 10_000;
	const slow = await runKind(kinds.copy, viewer, given);
	t.true(slow.recorded.checkpoints > 3, `${slow.recorded.checkpoints}`);
	t.like(slow.result, { done: 1 });
});

test('a resumed copy matches the original as it is at that time', async (t) => {
	const { home, viewer, kinds, writeFiles } = await setUp(t);
	await writeFiles({ 'docs/a': 'one', 'docs/b': 'two', 'docs/c/d': 'three' });
	const given = input('private', 'private', 'to', 'docs');
	const cut = await runKind(kinds.copy, viewer, given, { cutAt: { checkpoint: 1, isSaved: true } });
	await rm(path.join(home, 'docs/a'));
	await rename(path.join(home, 'docs/c'), path.join(home, 'docs/e'));
	await writeFiles({ 'docs/b': 'two changed' });
	t.like((await runKind(kinds.copy, viewer, given, { saved: cut.recorded.saved })).result, { done: 1 });
	t.deepEqual(await tree(path.join(home, 'to/docs')), await tree(path.join(home, 'docs')));
});
