import type { TrashedItem } from '@stowage/plugin-api';
import { isFailure, signedIn, type User } from '@stowage/rules';
import { enterHolding } from '../../members/enterFolder.js';
import type { SharedFolders } from '../../members/SharedFolders.js';
import type { FileParts } from '../FileParts.js';
import { putBack, type RestoredItem, type Trash } from '../trash.js';

/**
 * Extends the service to shared folders. What members have deleted is in the trash of the owner: members restore it
 * themselves, as long as they may edit the folder it was in, and see nothing else of that trash.
 */
export function sharedTrash(trash: Trash, parts: FileParts, folders: SharedFolders): Trash {
	const putBackShared = async (user: User, record: TrashedItem): Promise<RestoredItem> => {
		const { viewer, shown } = await enterHolding(folders, user, { ownerId: record.ownerId, path: record.path }, 'edit');
		return { entry: shown(await putBack(parts, viewer, record)), owner: viewer.username };
	};
	return {
		get keepFor() {
			return trash.keepFor;
		},
		list: (viewer) => trash.list(viewer),
		async restore(viewer, id) {
			try {
				return await trash.restore(viewer, id);
			} catch (error) {
				if (!isFailure(error, 'notFound')) throw error;
				const user = signedIn(viewer);
				const restored = await parts.trash.moves.take(
					id,
					({ kind, ownerId, deletedBy }) => kind === 'item' && ownerId !== user.id && deletedBy === user.username,
					(record) => putBackShared(user, record as TrashedItem),
				);
				if (restored === undefined) throw error;
				return restored;
			}
		},
		purge: (viewer, id) => trash.purge(viewer, id),
		empty: (viewer) => trash.empty(viewer),
		restoreFor: (owner, id) => trash.restoreFor(owner, id),
		purgeAny: (selection) => trash.purgeAny(selection),
	};
}
