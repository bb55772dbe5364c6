import type { Entry } from '@stowage/rules';
import { rootPath } from '@stowage/rules';
import test from 'ava';
import { shareMenuFor } from '../../src/features/files/menu/shareMenu.js';

const file: Entry = { name: 'a.txt', path: 'a.txt', type: 'file', size: 1, mtime: 1, versions: 2 };
const film: Entry = { ...file, name: 'a.mkv', path: 'a.mkv' };
const folder: Entry = { ...file, name: 'b', path: 'b', type: 'directory' };
const folderOf = { directory: rootPath, isSearch: false, shown: 3 };

const actionsFor = (entries: readonly Entry[], isLimited = false) =>
	shareMenuFor({ ...folderOf, isLimited }, entries).flatMap((group) => group.map(({ action }) => action));

test('the menus of a share have actions that read, and no others', (t) => {
	t.deepEqual(actionsFor([file]), ['preview', 'download']);
	t.deepEqual(actionsFor([folder]), ['open', 'downloadZip']);
	t.deepEqual(actionsFor([file, film]), ['download', 'downloadZip']);
	t.deepEqual(actionsFor([file, folder]), ['downloadZip']);
	t.deepEqual(actionsFor([]), ['selectAll', 'refresh']);
});

test('the menus of a share with a limit of downloads have no preview', (t) => {
	t.deepEqual(actionsFor([file], true), ['download']);
	t.deepEqual(actionsFor([folder], true), ['open', 'downloadZip']);
});
