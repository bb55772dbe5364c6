import { assertAllowed, replaceDenial } from '@stowage/rules';
import { endingFile } from '../../members/endingFile.js';
import { enterFolder } from '../../members/enterFolder.js';
import type { SharedFolders } from '../../members/SharedFolders.js';
import type { FileVersions } from '../versions.js';

/** Extends the service to files of shared folders, for members who may edit them. Members can't remove a version for good. */
export function sharedVersions(versions: FileVersions, folders: SharedFolders): FileVersions {
	return {
		get keepFor() {
			return versions.keepFor;
		},
		async list(viewer, file) {
			if (file.area !== 'shared') return versions.list(viewer, file);
			const { viewer: owner, ref } = await enterFolder(folders, viewer, file, 'edit');
			return versions.list(owner, ref);
		},
		async open(viewer, file, id) {
			if (file.area !== 'shared') return versions.open(viewer, file, id);
			const { viewer: owner, ref, shown, held } = await enterFolder(folders, viewer, file, 'edit');
			const opened = await versions.open(owner, ref, id);
			return {
				entry: shown(opened.entry),
				file: endingFile(opened.file, (onLost) => folders.held.hold(held, onLost)),
			};
		},
		async restore(viewer, file, id) {
			if (file.area !== 'shared') return versions.restore(viewer, file, id);
			assertAllowed(replaceDenial(viewer, file));
			const { viewer: owner, ref, shown } = await enterFolder(folders, viewer, file, 'edit');
			return shown(await versions.restore(owner, ref, id));
		},
		purge: (viewer, id) => versions.purge(viewer, id),
		purgeAny: (selection) => versions.purgeAny(selection),
	};
}
