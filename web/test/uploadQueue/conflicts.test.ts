import { type Area, type Entry, parsePath, type StoragePath } from '@stowage/rules';
import test from 'ava';
import { takenNames } from '../../src/api/listings/takenNames.js';
import {
	choiceOf,
	choicesFor,
	foldersToList,
	type ListedNames,
	lookupsOf,
	nameStateOf,
	summarizeConflicts,
} from '../../src/features/uploadQueue/conflicts/conflicts.js';
import type { QueueItem } from '../../src/features/uploadQueue/queueItem.js';
import { emptyQueue, type UploadQueueAction, uploadQueueReducer } from '../../src/features/uploadQueue/uploadQueue.js';

const entry = (name: string, owner?: string): Entry => ({
	name: name.replace('/', ''),
	path: name,
	type: name.endsWith('/') ? 'directory' : 'file',
	size: 1,
	mtime: 1,
	...(owner === undefined ? {} : { owner }),
});

/** Folders by area and path with their names; those of folders end in a slash. */
function listing(folders: Record<string, string[]>): ListedNames {
	return ({ key, area }) => {
		const entries = folders[key];
		return (
			entries &&
			takenNames(
				entries.map((name) => entry(name, 'ada')),
				area,
				'ada',
			)
		);
	};
}

interface Place {
	area?: Area;
	directory?: string;
	isPublic?: boolean;
}

/** Waiting files at these paths below a folder. */
function queued(paths: string[], { area = 'private', directory = '', isPublic = area === 'public' }: Place = {}) {
	const files = paths.map((path) => {
		const at = path.lastIndexOf('/');
		return { file: new File(['a'], path.slice(at + 1)), folder: parsePath(path.slice(0, Math.max(0, at))) };
	});
	const target = { area, directory: parsePath(directory) as StoragePath };
	const actions: UploadQueueAction[] = [{ type: 'added', files, target, username: 'ada', isPublic }];
	return actions.reduce(uploadQueueReducer, emptyQueue).items as QueueItem[];
}

const states = (items: readonly QueueItem[], listed: ListedNames) => items.map((item) => nameStateOf(item, listed));

test('a name is taken by a file or a folder, free, or unknown while its folder is not listed', (t) => {
	const listed = listing({ 'private/docs': ['a.txt', 'b/'] });
	const items = queued(['a.txt', 'b', 'c'], { directory: 'docs' });
	t.deepEqual(states(items, listed), ['file', 'directory', 'free']);
	t.deepEqual(states(items, listing({})), ['unknown', 'unknown', 'unknown']);
});

test('a name in the other area is looked for at its root, where the file goes', (t) => {
	const items = queued(['a.txt'], { directory: 'docs', isPublic: true });
	t.deepEqual(states(items, listing({ 'private/docs': ['a.txt'], 'public/': [] })), ['free']);
	t.deepEqual(states(items, listing({ 'public/': ['a.txt'] })), ['file']);
});

test('what lies in a new folder is free, and in one that is there already it is looked for', (t) => {
	const items = queued(['photos/2024/a.jpg', 'new/a.jpg']);
	t.deepEqual(states(items, listing({ 'private/': ['photos/'] })), ['unknown', 'free']);
	const all = { 'private/': ['photos/'], 'private/photos': ['2024/'], 'private/photos/2024': ['a.jpg'] };
	t.deepEqual(states(items, listing(all)), ['file', 'free']);
});

test('a folder is listed once those above it are seen to have it, and never more than eight are', (t) => {
	const items = queued(['photos/2024/a.jpg', 'photos/b.jpg', 'new/c.jpg']);
	const folders = (found: Record<string, string[]>) =>
		foldersToList(items, listing(found)).map(({ directory }) => directory as string);
	t.deepEqual(folders({}), ['']);
	t.deepEqual(folders({ 'private/': ['photos/'] }), ['', 'photos']);
	t.deepEqual(folders({ 'private/': ['photos/'], 'private/photos': ['2024/'] }), ['', 'photos', 'photos/2024']);
	const many = Array.from({ length: 20 }, (_, index) => `${index}`);
	const found = listing({ 'private/': many.map((name) => `${name}/`) });
	t.is(foldersToList(queued(many.map((name) => `${name}/a`)), found).length, 8);
});

test('only the own tree counts in the public area', (t) => {
	const entries = [entry('a', 'ada'), entry('b', 'bob'), entry('c', 'anonymous')];
	t.deepEqual([...takenNames(entries, 'public', 'ada').keys()], ['a']);
	t.deepEqual([...takenNames(entries, 'public', undefined).keys()], ['c']);
});

test('a folder and a visitor have no Replace, also if it was chosen for all', (t) => {
	t.deepEqual(choicesFor('file', false), ['rename', 'replace', 'skip']);
	t.deepEqual(choicesFor('directory', false), ['rename', 'skip']);
	t.deepEqual(choicesFor('file', true), ['rename', 'skip']);
	t.is(choiceOf({ ifExists: 'replace' }, 'file', false), 'replace');
	t.is(choiceOf({ ifExists: 'replace' }, 'directory', false), 'rename');
	t.is(choiceOf({ ifExists: 'replace' }, 'unknown', true), 'rename');
});

test('the choice for all is that of the files whose names are or may be taken', (t) => {
	const listed = listing({ 'private/': ['a', 'b'] });
	const [a, b, c] = queued(['a', 'b', 'c']) as [QueueItem, QueueItem, QueueItem];
	const summary = (...items: QueueItem[]) => summarizeConflicts(items, (item) => nameStateOf(item, listed), false);
	t.deepEqual(summary(a, b, c), { choice: 'rename', taken: 2 });
	t.deepEqual(summary({ ...a, ifExists: 'skip' }, { ...b, ifExists: 'skip' }, c), { choice: 'skip', taken: 2 });
	t.deepEqual(summary({ ...a, ifExists: 'skip' }, b), { choice: 'mixed', taken: 2 });
	t.deepEqual(summary(c), { choice: undefined, taken: 0 });
	t.deepEqual(summary({ ...a, status: 'skipped' }), { choice: undefined, taken: 0 });
});

test('names in a shared folder are looked for there, whoever has brought them', (t) => {
	const items = queued(['a.txt', 'b.txt'], { area: 'shared', directory: 'Photos' });
	t.deepEqual(states(items, listing({ 'shared/Photos': ['a.txt'] })), ['file', 'free']);
});

test('files that are added to one folder share the folders that lead to it, whose paths may be long', (t) => {
	const directory = Array(900).fill('d').join('/');
	const items = queued(['in/a.txt', 'in/b.txt', 'c.txt', 'in/d.txt', 'in/e.txt'], { directory });
	const folders = new Set(items.flatMap((item) => lookupsOf(item).map(({ folder }) => folder)));
	t.is(folders.size, 5);
	t.deepEqual(
		lookupsOf(items[1] as QueueItem).map(({ folder, name }) => [folder.key, name]),
		[
			[`private/${directory}`, 'in'],
			[`private/${directory}/in`, 'b.txt'],
		],
	);
	const [other] = queued(['in/a.txt'], { directory, area: 'public' });
	t.is(lookupsOf(other as QueueItem)[0]?.folder.area, 'public');
});
