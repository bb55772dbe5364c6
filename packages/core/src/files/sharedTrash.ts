import type { TrashedItem } from '@stowage/plugin-api';
import { type Entry, isFailure, signedIn, type User } from '@stowage/rules';
import { enterHolding } from '../members/enterFolder.js';
import type { SharedFolders } from '../members/SharedFolders.js';
import type { FileParts } from './FileParts.js';
import { putBack, type Trash } from './trash.js';

/** The same service. What members have deleted is in the trash of its owner: they put that back themselves, as long as they may edit where it was, and see nothing else of it. */
export function sharedTrash(trash: Trash, parts: FileParts, folders: SharedFolders): Trash {
	const putBackShared = async (user: User, record: TrashedItem): Promise<Entry> => {
		const { viewer, shown } = await enterHolding(folders, user, { ownerId: record.ownerId, path: record.path }, 'edit');
		return shown(await putBack(parts, viewer, record));
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
				const entry = await parts.trash.take(
					id,
					({ kind, ownerId, deletedBy }) => kind === 'item' && ownerId !== user.id && deletedBy === user.username,
					(record) => putBackShared(user, record as TrashedItem),
				);
				if (entry === undefined) throw error;
				return entry;
			}
		},
		purge: (viewer, id) => trash.purge(viewer, id),
		empty: (viewer) => trash.empty(viewer),
		restoreFor: (user, id) => trash.restoreFor(user, id),
		purgeAny: (selection) => trash.purgeAny(selection),
	};
}
