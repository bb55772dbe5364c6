import type { Files } from '@stowage/plugin-api';
import type { SharedFolders } from '../members/SharedFolders.js';
import { copy } from './copy.js';
import { createFile } from './createFile.js';
import { createFolder } from './createFolder.js';
import type { FileParts } from './FileParts.js';
import { list } from './list.js';
import { listWithStats, stat } from './listWithStats.js';
import { move } from './move.js';
import { find, open, readSmallFiles } from './open.js';
import { assertUpload, findPublished, publish, publishOnce } from './publish.js';
import { assertRemovable, remove } from './remove.js';
import { rename } from './rename.js';
import { search } from './search/search.js';
import { sharedFiles } from './shared/sharedFiles.js';
import { stage, withDescriptor } from './stage.js';
import { watch } from './watch.js';

/** Implements `Files` of plugin-api over all storage roots, one call in each file. Each asks the rules before it accesses the disk. */
export function createFiles(parts: FileParts, folders: SharedFolders): Files {
	const files: Files = {
		list: (...call) => list(parts, ...call),
		search: (...call) => search(parts, ...call),
		watch: (viewer, folder, onChange) => watch(parts, viewer, folder, onChange),
		locate: async (_viewer, ref) => ref,
		find: (...call) => find(parts, ...call),
		open: (...call) => open(parts, ...call),
		readSmallFiles: (...call) => readSmallFiles(parts, ...call),
		stat: (...call) => stat(parts, ...call),
		listWithStats: (...call) => listWithStats(parts, ...call),
		createFile: (...call) => createFile(parts, ...call),
		createFolder: (...call) => createFolder(parts, ...call),
		rename: (...call) => rename(parts, ...call),
		move: (...call) => move(parts, ...call),
		copy: (viewer, item, to, options) => copy(parts, viewer, item, to, options),
		discardCopy: (id) => parts.storage().discardCopy(id),
		remove: (...call) => remove(parts, ...call),
		assertRemovable: (...call) => assertRemovable(parts, ...call),
		stage: (viewer, id) => stage(parts, viewer, id),
		withDescriptor: (...call) => withDescriptor(parts, ...call),
		assertUpload: (...call) => assertUpload(parts, ...call),
		publish: (...call) => publish(parts, ...call),
		publishOnce: (...call) => publishOnce(parts, ...call),
		findPublished: (...call) => findPublished(parts, ...call),
	};
	const { trash, log } = parts;
	return sharedFiles(files, { folders, trash, log, copyFor: (...call) => copy(parts, ...call) });
}
