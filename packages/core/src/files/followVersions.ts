import { homeRoot, relativePath, type StoragePath, type Viewer } from '@stowage/rules';
import { createKeyedMutex } from '../limits/keyedMutex.js';
import { isPublicPath } from '../links/locateLink.js';
import { isTrashedLink } from '../trees/trash/trashPaths.js';
import type { Versions } from '../trees/trash/versions/Versions.js';
import type { ItemTracker } from './itemTracker.js';

/**
 * Wraps the tracker: moved items take their versions with them. What is made public leaves them behind, since its
 * former contents are not meant for others. The paths of versions are written after the disk has changed, since they
 * belong to the file itself, whatever its path is; what is interrupted in between is completed before they are used again.
 */
export function followVersions(tracker: ItemTracker, versions: Versions): ItemTracker {
	// Moves of one user, or a path might be written that another move has changed since.
	const exclusively = createKeyedMutex();
	const hasAny = async (viewer: Viewer) => viewer.kind === 'user' && (await versions.counts.hasAny(viewer.id));
	return {
		...tracker,

		async moving(viewer, from, move) {
			if (viewer.kind !== 'user' || !(await hasAny(viewer))) return tracker.moving(viewer, from, move);
			const home = homeRoot(viewer.username);
			const source = relativePath(from, home);
			return exclusively(viewer.id, async () => {
				await versions.paths.complete(viewer.id);
				return tracker.moving(viewer, from, async (before) => {
					let target = source;
					let isPlanned = false;
					const moved = await move(async (to) => {
						target = relativePath(to, home);
						await versions.paths.assertRoomAt(viewer, source, target);
						isPlanned = await versions.paths.begin(viewer.id, source, target);
						await before(to);
					}).catch(async (error: unknown) => {
						// It may be at its target all the same: only a sync, or an answer, has failed.
						if (isPlanned) await versions.paths.complete(viewer.id, source);
						throw error;
					});
					await versions.paths.moved(viewer.id, source, target, isPlanned);
					// What is restored goes to where it was.
					const isMadePublic = isPublicPath(target) && !isPublicPath(source) && !isTrashedLink(source);
					if (isMadePublic) await endAll(viewer, target);
					return moved;
				});
			});
		},

		async removing(viewer, at, remove) {
			if (viewer.kind !== 'user' || !(await hasAny(viewer))) return tracker.removing(viewer, at, remove);
			const path = relativePath(at, homeRoot(viewer.username));
			await exclusively(viewer.id, () => versions.paths.complete(viewer.id));
			const files = await versions.counts.filesWithin(viewer, path);
			await tracker.removing(viewer, at, remove);
			if (files.size === 0) return;
			// What was moved out of a folder while that was removed has another path after its move, and keeps its versions.
			await exclusively(viewer.id, async () =>
				versions.end(viewer.id, await versions.counts.gone(viewer, path, files)),
			);
		},
	};

	async function endAll(viewer: Viewer & { kind: 'user' }, path: StoragePath): Promise<void> {
		await versions.end(viewer.id, await versions.counts.filesWithin(viewer, path));
	}
}
