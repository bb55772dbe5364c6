import { type Area, type Clipboard, type Entry, type Owner, parsePath, type Viewer } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { type MenuContext, menuFor, menuKind } from '../../src/features/files/menu/menu.js';
import { permittedFor } from '../../src/features/files/operations/permitted.js';

const visitor: Viewer = { kind: 'anonymous', access: 'upload' };
const alice: Viewer = { kind: 'user', id: '1', username: 'alice' };

function entry(path: string, owner?: Owner): Entry {
	const isFolder = path.endsWith('/');
	const bare = isFolder ? path.slice(0, -1) : path;
	const name = bare.slice(bare.lastIndexOf('/') + 1);
	const base = { name, path: bare, size: isFolder ? 0 : 10, mtime: 0, ...(owner === undefined ? {} : { owner }) };
	return isFolder ? { ...base, type: 'directory', count: 0 } : { ...base, type: 'file' };
}

function place(viewer: Viewer, area: Area, directory = '', more: Partial<MenuContext> = {}): MenuContext {
	const directoryPath = parsePath(directory);
	return {
		...{ viewer, area, directory: directoryPath, isSearch: false, shown: 3, clipboard: undefined, mayShare: false },
		...{ role: undefined, hasTrash: true },
		...more,
	};
}

const hasMenu = (t: ExecutionContext, where: MenuContext, entries: Entry[], expected: string) => {
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
	'the menu of an own folder disables Paste without a clipboard',
	hasMenu,
	place(alice, 'private'),
	[],
	'Create Folder, Create File, Upload Files, Upload Folder | (Paste), Select All | Refresh',
);
test(
	'the menu of an own folder enables Paste for a copy',
	hasMenu,
	place(alice, 'private', '', { clipboard: copied }),
	[],
	'Create Folder, Create File, Upload Files, Upload Folder | Paste, Select All | Refresh',
);
test(
	'the menu of a folder disables Paste for entries that were cut in it',
	hasMenu,
	place(alice, 'private', '', { clipboard: cutHere }),
	[],
	'Create Folder, Create File, Upload Files, Upload Folder | (Paste), Select All | Refresh',
);
test(
	'the menu of an empty folder disables Select All',
	hasMenu,
	place(alice, 'private', '', { shown: 0 }),
	[],
	'Create Folder, Create File, Upload Files, Upload Folder | (Paste), (Select All) | Refresh',
);
test(
	'the menu of search results offers no upload, paste or new folder',
	hasMenu,
	place(alice, 'private', '', { isSearch: true }),
	[],
	'Select All | Refresh',
);
test(
	'the menu of a visitor at the public root offers an upload',
	hasMenu,
	place(visitor, 'public'),
	[],
	'Upload Files | Select All | Refresh',
);
test(
	'the menu of a visitor below the public root offers no upload',
	hasMenu,
	place(visitor, 'public', 'docs'),
	[],
	'Select All | Refresh',
);

test(
	'the menu of a private file offers all actions on a file',
	hasMenu,
	place(alice, 'private'),
	[entry('docs/a.txt')],
	'Preview, Download, Temporary Link | Cut, Copy, Rename | Move to Public | Delete',
);
test(
	'the menu of a file that has versions offers them',
	hasMenu,
	place(alice, 'private'),
	[{ ...entry('docs/a.txt'), versions: 2 }],
	'Preview, Download, Temporary Link | Cut, Copy, Rename, Versions | Move to Public | Delete',
);
test(
	'the menu of several files offers no versions',
	hasMenu,
	place(alice, 'private'),
	[{ ...entry('docs/a.txt'), versions: 2 }, entry('docs/b.txt')],
	'Download, Download as ZIP | Cut, Copy | Move to Public | Delete',
);
test(
	'the menu of a private folder offers all actions on a folder',
	hasMenu,
	place(alice, 'private'),
	[entry('docs/')],
	'Open, Download as ZIP, Temporary Link, Members | Cut, Copy, Rename | Move to Public | Delete',
);
test(
	'the menu of the protected folder offers only Open and Download as ZIP',
	hasMenu,
	place(alice, 'private'),
	[entry('Public/')],
	'Open, Download as ZIP',
);
test(
	'the menu of a file below Public offers a public link and no temporary one',
	hasMenu,
	place(alice, 'private', 'Public'),
	[entry('Public/a.txt')],
	'Preview, Download, Copy Link | Cut, Copy, Rename | Delete',
);
test(
	'the menu of an own public file offers Move back to Private',
	hasMenu,
	place(alice, 'public'),
	[entry('a.txt', 'alice')],
	'Preview, Download, Copy Link | Cut, Copy, Rename | Move back to Private | Delete',
);
test(
	'the menu of another user’s public file offers no change',
	hasMenu,
	place(alice, 'public'),
	[entry('a.txt', 'bob')],
	'Preview, Download, Copy Link | Copy',
);
test(
	'the menu of a public file without an owner offers no change',
	hasMenu,
	place(alice, 'public'),
	[entry('a.txt', null)],
	'Preview, Download, Copy Link | Copy',
);
test(
	'the menu of a visitor on a public file offers no copy',
	hasMenu,
	place(visitor, 'public'),
	[entry('a.txt', 'anonymous')],
	'Preview, Download, Copy Link',
);
test(
	'the menu of a visitor on a public folder offers no copy',
	hasMenu,
	place(visitor, 'public'),
	[entry('docs/', null)],
	'Open, Download as ZIP, Copy Link',
);

test(
	'the menu of several private files offers actions on all of them',
	hasMenu,
	place(alice, 'private'),
	[entry('a.txt'), entry('b.txt')],
	'Download, Download as ZIP | Cut, Copy | Move to Public | Delete',
);
test(
	'the menu of several entries with a folder offers only a ZIP download',
	hasMenu,
	place(alice, 'private'),
	[entry('a.txt'), entry('docs/')],
	'Download as ZIP | Cut, Copy | Move to Public | Delete',
);
test(
	'the menu of several entries of which one is another user’s offers no Move back to Private',
	hasMenu,
	place(alice, 'public'),
	[entry('a.txt', 'alice'), entry('b.txt', 'bob')],
	'Download, Download as ZIP | Cut, Copy | Delete',
);
test(
	'the menu of several own public files offers Move back to Private',
	hasMenu,
	place(alice, 'public'),
	[entry('a.txt', 'alice'), entry('b.txt', 'alice')],
	'Download, Download as ZIP | Cut, Copy | Move back to Private | Delete',
);
test(
	'the menu of several files of other users offers only downloads and Copy',
	hasMenu,
	place(alice, 'public'),
	[entry('a.txt', 'bob'), entry('b.txt', null)],
	'Download, Download as ZIP | Copy',
);

test(
	'the menu of an own video offers Convert Video',
	hasMenu,
	place(alice, 'private'),
	[entry('clip.MOV')],
	'Preview, Download, Temporary Link | Cut, Copy, Rename, Convert Video | Move to Public | Delete',
);
test(
	'the menu of a selection with an own video offers Convert Video, also in the public area',
	hasMenu,
	place(alice, 'public'),
	[entry('a.txt', 'bob'), entry('clip.mp4', 'alice')],
	'Download, Download as ZIP | Cut, Copy, Convert Video | Delete',
);
test(
	'the menu of another user’s video and a folder with a video’s extension offers no Convert Video',
	hasMenu,
	place(alice, 'public'),
	[entry('clip.mp4', 'bob'), entry('folder.mp4/', 'alice')],
	'Download as ZIP | Cut, Copy | Delete',
);
test(
	'the menu of a visitor on a video offers no Convert Video',
	hasMenu,
	place(visitor, 'public'),
	[entry('c.mkv')],
	'Preview, Download, Copy Link',
);

test('the kind of a menu depends on the number of entries', (t) => {
	t.is(menuKind([]), 'global');
	t.is(menuKind([entry('a')]), 'single');
	t.is(menuKind([entry('a'), entry('b')]), 'multi');
});

test('entries of other users are skipped with a message when several are deleted', (t) => {
	const { entries, message } = permittedFor('delete', alice, 'public', [entry('a', 'alice'), entry('b', 'bob')]);
	t.deepEqual(
		entries.map(({ name }) => name),
		['a'],
	);
	t.is(message, 'Skipped 1 item that you do not own');
});

test('what lies in another chosen folder goes with it, and is copied on its own', (t) => {
	const chosen = [entry('docs/'), entry('docs/a'), entry('docs/x/'), entry('docs/x/b'), entry('docs2/c'), entry('d')];
	const pathsOf = (action: Parameters<typeof permittedFor>[0]) =>
		permittedFor(action, alice, 'private', chosen)
			.entries.map(({ path }) => path)
			.join(' ');
	for (const action of ['delete', 'deleteForever', 'cut', 'moveToPublic'] as const) {
		t.is(pathsOf(action), 'docs docs2/c d', action);
	}
	t.is(pathsOf('copy'), 'docs docs/a docs/x docs/x/b docs2/c d');
});

test('a folder takes nothing of another owner with it, nor does one that stays', (t) => {
	const own = entry('docs/a', 'alice');
	const keep = (...entries: Entry[]) => permittedFor('delete', alice, 'public', entries).entries;
	t.deepEqual(keep(entry('docs/', 'bob'), own), [own]);
	t.deepEqual(permittedFor('delete', alice, 'private', [entry('Public/'), entry('Public/a')]).entries, [
		entry('Public/a'),
	]);
	const folder = { ...entry('Photos/x/'), role: 'edit' } as const;
	t.deepEqual(permittedFor('delete', alice, 'shared', [folder, { ...entry('Photos/x/a'), role: 'edit' }]).entries, [
		folder,
	]);
});

test('an entry within hundreds of folders is compared with those only that were chosen with it', (t) => {
	const within = 'folder/'.repeat(400);
	let reads = 0;
	const counted = (path: string): Entry => ({
		...entry(path),
		get owner() {
			reads++;
			return undefined;
		},
	});
	const chosen = [entry(`${within}a/`), counted(`${within}b`), counted(`${within}a/b`), counted('b')];
	const { entries } = permittedFor('delete', alice, 'private', chosen as Entry[]);
	t.deepEqual(
		entries.map(({ path }) => path),
		[`${within}a`, `${within}b`, 'b'],
	);
	t.true(reads > 0 && reads < 100, `${reads}`);
});

const refuses = (
	t: ExecutionContext,
	action: Parameters<typeof permittedFor>[0],
	area: Area,
	item: Entry,
	message: string,
) => t.deepEqual(permittedFor(action, alice, area, [item]), { entries: [], message });

test(
	'cutting another user’s file is refused with a message',
	refuses,
	'cut',
	'public',
	entry('a', 'bob'),
	'Cannot cut files you do not own',
);
test(
	'cutting a protected folder is refused with a message',
	refuses,
	'cut',
	'private',
	entry('Public/'),
	'Cannot cut protected folders',
);
test(
	'copying a protected folder is refused with a message',
	refuses,
	'copy',
	'private',
	entry('Public/'),
	'Cannot copy protected folders',
);
test(
	'renaming a protected folder is refused with a message',
	refuses,
	'rename',
	'private',
	entry('Public/'),
	'Cannot rename protected folders',
);
test(
	'deleting a protected folder is refused with a message',
	refuses,
	'delete',
	'private',
	entry('Public/'),
	'Cannot delete protected folders',
);
test(
	'deleting a file without an owner is refused with a message',
	refuses,
	'delete',
	'public',
	entry('a', null),
	'You do not own any of the selected items',
);

test('private items are shared where the server allows it, but not what is public or protected', (t) => {
	const offers = (mayShare: boolean, area: Area, ...entries: Entry[]) =>
		menuFor(place(alice, area, '', { mayShare }), entries)
			.flat()
			.some(({ action }) => action === 'share');
	t.true(offers(true, 'private', entry('a.txt')));
	t.true(offers(true, 'private', entry('docs/'), entry('a.txt')));
	t.false(offers(false, 'private', entry('a.txt')));
	t.false(offers(true, 'private', entry('Public/'), entry('a.txt')));
	t.false(offers(true, 'private', entry('Public/a.txt')));
	t.false(offers(true, 'public', entry('a.txt', 'alice')));
});

const shared = (path: string, role: 'view' | 'edit', owner?: string): Entry => ({ ...entry(path, owner), role });
const member = (directory: string, role: 'view' | 'edit' | undefined, more: Partial<MenuContext> = {}) =>
	place(alice, 'shared', directory, { role, mayShare: true, clipboard: copied, ...more });

test(
	'the list of shared folders offers nothing that changes it',
	hasMenu,
	member('', undefined),
	[],
	'Select All | Refresh',
);
test(
	'a shared folder can be opened, read and left, whatever its role',
	hasMenu,
	member('', undefined),
	[shared('Photos/', 'edit', 'bob')],
	'Open, Download as ZIP | Copy | Leave',
);
test(
	'several shared folders are not left at once',
	hasMenu,
	member('', undefined),
	[shared('Photos/', 'edit', 'bob'), shared('Trips/', 'view', 'bob')],
	'Download as ZIP | Copy',
);
test(
	'a member who may look at a folder is offered nothing that changes it',
	hasMenu,
	member('Photos', 'view'),
	[],
	'Select All | Refresh',
);
test(
	'a member who may look at a file reads and copies it',
	hasMenu,
	member('Photos', 'view'),
	[{ ...shared('Photos/a.txt', 'view'), versions: 2 }],
	'Preview, Download | Copy',
);
test(
	'a member who may look at a video does not convert it',
	hasMenu,
	member('Photos', 'view'),
	[shared('Photos/a.mp4', 'view')],
	'Preview, Download | Copy',
);
test(
	'a member who edits a folder puts things into it',
	hasMenu,
	member('Photos', 'edit'),
	[],
	'Create Folder, Create File, Upload Files, Upload Folder | Paste, Select All | Refresh',
);
test(
	'a member who edits a file shares it with nobody and publishes nothing',
	hasMenu,
	member('Photos', 'edit'),
	[{ ...shared('Photos/a.txt', 'edit'), versions: 2 }],
	'Preview, Download | Cut, Copy, Rename, Versions | Delete',
);
test(
	'where nothing is kept in a trash members delete nothing',
	hasMenu,
	member('Photos', 'edit', { hasTrash: false }),
	[shared('Photos/a.txt', 'edit')],
	'Preview, Download | Cut, Copy, Rename',
);
test(
	'an item that is shared apart with less is only read',
	hasMenu,
	member('Photos', 'edit'),
	[shared('Photos/2030/', 'view')],
	'Open, Download as ZIP | Copy',
);

test('a key says to members what a menu leaves out', (t) => {
	const message = (action: Parameters<typeof permittedFor>[0], one: Entry) =>
		permittedFor(action, alice, 'shared', [one]).message;
	t.is(message('delete', shared('Photos/a.txt', 'view')), 'You may look at this, and not change it.');
	t.is(message('deleteForever', shared('Photos/a.txt', 'edit')), 'Only its owner can delete this forever.');
	t.is(message('rename', shared('Photos/', 'edit', 'bob')), 'Cannot rename protected folders');
	t.is(message('copy', shared('Photos/', 'view', 'bob')), undefined);
});
