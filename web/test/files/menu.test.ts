import { type Area, type Clipboard, type Entry, type Owner, parsePath, type Viewer } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { type MenuContext, menuFor, menuKind } from '../../src/features/files/menu/menu.js';
import { permittedFor } from '../../src/features/files/operations/permitted.js';

const visitor: Viewer = { kind: 'anonymous' };
const alice: Viewer = { kind: 'user', id: '1', username: 'alice' };

function entry(path: string, owner?: Owner): Entry {
	const isFolder = path.endsWith('/');
	const bare = isFolder ? path.slice(0, -1) : path;
	const name = bare.slice(bare.lastIndexOf('/') + 1);
	const base = { name, path: bare, size: isFolder ? 0 : 10, mtime: 0, ...(owner === undefined ? {} : { owner }) };
	return isFolder ? { ...base, type: 'directory', count: 0 } : { ...base, type: 'file' };
}

function place(viewer: Viewer, area: Area, directory = '', more: Partial<MenuContext> = {}): MenuContext {
	return { viewer, area, directory: parsePath(directory), isSearch: false, shown: 3, clipboard: undefined, ...more };
}

const offers = (t: ExecutionContext, where: MenuContext, entries: Entry[], expected: string) => {
	const groups = menuFor(where, entries).map((group) =>
		group.map((item) => (item.isDisabled ? `(${item.label})` : item.label)).join(', '),
	);
	t.is(groups.join(' | '), expected);
};

const copied: Clipboard = {
	operation: 'copy',
	items: [entry('a.txt')],
	sourceArea: 'private',
	sourceDirectory: parsePath(''),
};
const cutHere: Clipboard = { ...copied, operation: 'cut' };

test(
	'a folder of one’s own, with nothing on the clipboard',
	offers,
	place(alice, 'private'),
	[],
	'Create Folder, Upload Files, Upload Folder | (Paste), Select All | Refresh',
);
test(
	'the same with a copy',
	offers,
	place(alice, 'private', '', { clipboard: copied }),
	[],
	'Create Folder, Upload Files, Upload Folder | Paste, Select All | Refresh',
);
test(
	'what was cut here can’t be pasted here',
	offers,
	place(alice, 'private', '', { clipboard: cutHere }),
	[],
	'Create Folder, Upload Files, Upload Folder | (Paste), Select All | Refresh',
);
test(
	'an empty folder has nothing to select',
	offers,
	place(alice, 'private', '', { shown: 0 }),
	[],
	'Create Folder, Upload Files, Upload Folder | (Paste), (Select All) | Refresh',
);
test(
	'nothing is put into search results',
	offers,
	place(alice, 'private', '', { isSearch: true }),
	[],
	'Select All | Refresh',
);
test(
	'a visitor uploads at the public root',
	offers,
	place(visitor, 'public'),
	[],
	'Upload Files | Select All | Refresh',
);
test('and nowhere else', offers, place(visitor, 'public', 'docs'), [], 'Select All | Refresh');

test(
	'a private file',
	offers,
	place(alice, 'private'),
	[entry('docs/a.txt')],
	'Preview, Download, Temporary Link | Cut, Copy, Rename | Move to Public | Delete',
);
test(
	'a private folder',
	offers,
	place(alice, 'private'),
	[entry('docs/')],
	'Open, Download as ZIP, Temporary Link | Cut, Copy, Rename | Move to Public | Delete',
);
test('the protected folder', offers, place(alice, 'private'), [entry('Public/')], 'Open, Download as ZIP');
test(
	'a file below Public in one’s home has a plain link',
	offers,
	place(alice, 'private', 'Public'),
	[entry('Public/a.txt')],
	'Preview, Download, Copy Link | Cut, Copy, Rename | Delete',
);
test(
	'a public file of one’s own',
	offers,
	place(alice, 'public'),
	[entry('a.txt', 'alice')],
	'Preview, Download, Copy Link | Cut, Copy, Rename | Move back to Private | Delete',
);
test(
	'a public file of another',
	offers,
	place(alice, 'public'),
	[entry('a.txt', 'bob')],
	'Preview, Download, Copy Link | Copy',
);
test(
	'a public file without an owner',
	offers,
	place(alice, 'public'),
	[entry('a.txt', null)],
	'Preview, Download, Copy Link | Copy',
);
test(
	'a public file, for a visitor',
	offers,
	place(visitor, 'public'),
	[entry('a.txt', 'anonymous')],
	'Preview, Download, Copy Link',
);
test(
	'a public folder, for a visitor',
	offers,
	place(visitor, 'public'),
	[entry('docs/', null)],
	'Open, Download as ZIP, Copy Link',
);

test(
	'several private files',
	offers,
	place(alice, 'private'),
	[entry('a.txt'), entry('b.txt')],
	'Download, Download as ZIP | Cut, Copy | Move to Public | Delete',
);
test(
	'several with a folder among them',
	offers,
	place(alice, 'private'),
	[entry('a.txt'), entry('docs/')],
	'Download as ZIP | Cut, Copy | Move to Public | Delete',
);
test(
	'several of which one is another’s can’t all move back',
	offers,
	place(alice, 'public'),
	[entry('a.txt', 'alice'), entry('b.txt', 'bob')],
	'Download, Download as ZIP | Cut, Copy | Delete',
);
test(
	'several of one’s own move back',
	offers,
	place(alice, 'public'),
	[entry('a.txt', 'alice'), entry('b.txt', 'alice')],
	'Download, Download as ZIP | Cut, Copy | Move back to Private | Delete',
);
test(
	'several of others',
	offers,
	place(alice, 'public'),
	[entry('a.txt', 'bob'), entry('b.txt', null)],
	'Download, Download as ZIP | Copy',
);

test(
	'a video of one’s own can be converted',
	offers,
	place(alice, 'private'),
	[entry('clip.MOV')],
	'Preview, Download, Temporary Link | Cut, Copy, Rename, Convert Video | Move to Public | Delete',
);
test(
	'videos among what is selected too, in public as well',
	offers,
	place(alice, 'public'),
	[entry('a.txt', 'bob'), entry('clip.mp4', 'alice')],
	'Download, Download as ZIP | Cut, Copy, Convert Video | Delete',
);
test(
	'a video of another can’t, and a folder is no video',
	offers,
	place(alice, 'public'),
	[entry('clip.mp4', 'bob'), entry('folder.mp4/', 'alice')],
	'Download as ZIP | Cut, Copy | Delete',
);
test('a visitor converts nothing', offers, place(visitor, 'public'), [entry('c.mkv')], 'Preview, Download, Copy Link');

test('the kind of a menu follows from what it is about', (t) => {
	t.is(menuKind([]), 'global');
	t.is(menuKind([entry('a')]), 'single');
	t.is(menuKind([entry('a'), entry('b')]), 'multi');
});

test('of several entries those of others are skipped with a message', (t) => {
	const { entries, message } = permittedFor('delete', alice, 'public', [entry('a', 'alice'), entry('b', 'bob')]);
	t.deepEqual(
		entries.map(({ name }) => name),
		['a'],
	);
	t.is(message, 'Skipped 1 item that you do not own');
});

const refuses = (
	t: ExecutionContext,
	action: Parameters<typeof permittedFor>[0],
	area: Area,
	item: Entry,
	message: string,
) => t.deepEqual(permittedFor(action, alice, area, [item]), { entries: [], message });

test('cutting another’s file', refuses, 'cut', 'public', entry('a', 'bob'), 'Cannot cut files you do not own');
test('cutting a protected folder', refuses, 'cut', 'private', entry('Public/'), 'Cannot cut protected folders');
test('deleting a protected folder', refuses, 'delete', 'private', entry('Public/'), 'Cannot delete protected folders');
test(
	'deleting another’s file',
	refuses,
	'delete',
	'public',
	entry('a', null),
	'You do not own any of the selected items',
);
