import { homeRoot, relativePath, type Viewer } from '@stowage/rules';
import { createKeyedMutex } from '../limits/keyedMutex.js';
import type { MoveRight } from '../trees/trash/versions/PlannedMoves.js';
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
				// Before the lease of links and the locks of the disk, for it may be awaited for long.
				let right: MoveRight | undefined = await versions.paths.begin(viewer.id, source);
				try {
					return await tracker.moving(viewer, from, async (before) => {
						let target = source;
						const moved = await move(async (to) => {
							target = relativePath(to, home);
							await versions.paths.assertRoomAt(viewer, source, target);
							right = await versions.paths.plan(viewer.id, source, target, right);
							await before(to);
						}).catch(async (error: unknown) => {
							await versions.paths.failed(right);
							throw error;
						});
						await versions.paths.moved(viewer.id, source, target, right);
						return moved;
					});
				} finally {
					await right?.release();
				}
			});
		},

		async removing(viewer, at, remove) {
			if (viewer.kind !== 'user' || !(await hasAny(viewer))) return tracker.removing(viewer, at, remove);
			const path = relativePath(at, homeRoot(viewer.username));
			// Not before a move of this process has set its paths.
			await exclusively(viewer.id, () => versions.paths.completeTo(viewer.id, path));
			const files = await versions.counts.filesWithin(viewer, path);
			await tracker.removing(viewer, at, remove);
			if (files.size === 0) return;
			// What was moved out of a folder while that was removed has another path after its move, and keeps its versions.
			await exclusively(viewer.id, async () =>
				versions.end(viewer.id, await versions.counts.gone(viewer, path, files)),
			);
		},
	};
}
