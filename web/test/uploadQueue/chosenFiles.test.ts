import test from 'ava';
import { chosenFiles, droppedFiles, hasFolders } from '../../src/features/uploadQueue/choosing/chosenFiles.js';

type Node = { [name: string]: Node } | string | null;

/** A dropped tree as the browser lists it: texts are files, null can't be read. */
function entryOf(name: string, node: Node): FileSystemEntry {
	if (node === null || typeof node === 'string') {
		const file = (found: (file: File) => void, failed: () => void) =>
			node === null ? failed() : found(new File([node], name));
		return { name, isFile: true, isDirectory: false, file } as unknown as FileSystemEntry;
	}
	const rest = Object.entries(node).map(([child, below]) => entryOf(child, below));
	// As Chromium does: a hundred at a time.
	const readEntries = (found: (entries: FileSystemEntry[]) => void) => found(rest.splice(0, 100));
	return {
		name,
		isFile: false,
		isDirectory: true,
		createReader: () => ({ readEntries }),
	} as unknown as FileSystemEntry;
}

function drop(tree: { [name: string]: Node }): DataTransfer {
	const items = Object.entries(tree).map(([name, node]) => ({
		kind: 'file',
		webkitGetAsEntry: () => entryOf(name, node),
		getAsFile: () => (typeof node === 'string' ? new File([node], name) : null),
	}));
	return { items: [...items, { kind: 'string' }], files: [] } as unknown as DataTransfer;
}

const pathsOf = ({ files }: Awaited<ReturnType<typeof droppedFiles>>) =>
	files.map(({ file, folder }) => `${folder}|${file.name}`);

test('dropped folders keep their structure and their empty folders', async (t) => {
	const dropped = await droppedFiles(
		drop({ 'a.txt': 'x', photos: { '2024': { 'b.jpg': 'y', raw: {} }, 'c.jpg': 'z' }, nothing: {} }),
	);
	t.deepEqual(pathsOf(dropped), ['|a.txt', 'photos|c.jpg', 'photos/2024|b.jpg']);
	t.deepEqual(dropped.emptyFolders, ['photos/2024/raw', 'nothing']);
	t.true(hasFolders(dropped));
});

test('a folder with more files than the browser lists at once is read completely', async (t) => {
	const many = Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`${index}.txt`, 'x']));
	t.is((await droppedFiles(drop({ many }))).files.length, 250);
});

test('unreadable files and invalid names are reported', async (t) => {
	const dropped = await droppedFiles(
		drop({ photos: { 'gone.jpg': null, 'back\\slash': { 'a.txt': 'x' }, 'b.txt': 'y' } }),
	);
	t.deepEqual(pathsOf(dropped), ['photos|b.txt']);
	t.deepEqual(dropped.unreadable, ['photos/gone.jpg', 'photos/back\\slash']);
});

test('folder names are trimmed as the server trims them', async (t) => {
	const dropped = await droppedFiles(drop({ '\u00A0photos ': { '2024\uFEFF': { 'a.txt': 'x' }, '\u3000': {} } }));
	t.deepEqual(pathsOf(dropped), ['photos/2024|a.txt']);
	t.deepEqual(dropped.emptyFolders, []);
	t.deepEqual(dropped.unreadable, ['\u00A0photos /\u3000']);
});

test('a drop that the browser denies is rejected', async (t) => {
	const refuse = () => {
		throw new Error('Access was denied.');
	};
	const items = [{ kind: 'file', webkitGetAsEntry: refuse, getAsFile: refuse }];
	const dropped = droppedFiles({ items, files: [] } as unknown as DataTransfer);
	await t.throwsAsync(async () => dropped, { message: 'Access was denied.' });
});

test('files without folders are returned synchronously', (t) => {
	const dropped = droppedFiles(drop({ 'a.txt': 'x', 'b.txt': 'y' }));
	if (dropped instanceof Promise) throw new Error('It has to be waited for.');
	t.deepEqual(pathsOf(dropped), ['|a.txt', '|b.txt']);
	t.false(hasFolders(dropped));
});

test('a drop of a text has no files', (t) => {
	t.deepEqual(droppedFiles({ items: [{ kind: 'string' }], files: [] } as unknown as DataTransfer), chosenFiles([]));
});

test('a chosen folder keeps its structure', (t) => {
	const file = Object.assign(new File(['x'], 'b.jpg'), { webkitRelativePath: 'photos/2024/b.jpg' });
	t.deepEqual(pathsOf(chosenFiles([file, new File(['y'], 'a.txt')])), ['photos/2024|b.jpg', '|a.txt']);
});
