import type { LinkRecord, LinkStore, StorageProvider } from '@stowage/plugin-api';
import { homeRoot, isWithin, joinPath, relativePath, type StoragePath } from '@stowage/rules';
import type { ItemWatcher } from '../files/itemWatcher.js';
import type { Log } from '../log.js';
import { isPublicPath, locateLink } from './locateLink.js';
import { createTurns } from './turns.js';

interface Parts {
	links: LinkStore;
	storage: () => StorageProvider;
	log: Log;
}

/**
 * Lets links follow their items through moves, and end with them. Where each is about to go is written down before the disk changes and settled after it, so
 * that a server that dies in between has lost none: `locateLink` looks at both places.
 */
export function followItems({ links, storage, log }: Parts): ItemWatcher {
	// What one person does to linked items takes turns, or each move would plan for paths that the other is changing.
	const inTurn = createTurns();
	const hasLinks = async (ownerId: string) => (await links.list(ownerId)).length > 0;

	/** The paths, as the home has them, of linked items at `source` or below. */
	const linkedWithin = async (ownerId: string, source: StoragePath): Promise<Map<string, StoragePath>> => {
		const paths = new Map<string, StoragePath>();
		for (const link of await links.list(ownerId)) {
			const path = await settledPath(link);
			if (path !== undefined && isWithin(path, source)) paths.set(link.id, path);
		}
		return paths;
	};
	const settledPath = async (link: LinkRecord) =>
		link.nextPath === undefined ? link.path : (await locateLink(storage(), link))?.path;

	/** The disk has changed: what can't be written now is found out by whoever follows the link. */
	const note = async (write: Promise<unknown>) => {
		try {
			await write;
		} catch (error) {
			log.warn({ err: error }, 'links could not be told of a move or deletion');
		}
	};

	return {
		async moving(viewer, from, to, move) {
			if (viewer.kind === 'anonymous' || !(await hasLinks(viewer.id))) return move();
			return inTurn(viewer.id, async () => {
				const home = homeRoot(viewer.username);
				const [source, target] = [relativePath(from, home), relativePath(to, home)];
				const moves = new Map<string, StoragePath>();
				for (const [id, path] of await linkedWithin(viewer.id, source))
					moves.set(id, joinPath(target, relativePath(path, source)));
				if (moves.size === 0) return move();
				await links.plan(moves);
				const moved = await move();
				await note(isPublicPath(target) ? links.remove([...moves.keys()]) : links.settle(moves));
				return moved;
			});
		},

		async removing(viewer, at, remove) {
			if (viewer.kind === 'anonymous' || !(await hasLinks(viewer.id))) return remove();
			return inTurn(viewer.id, async () => {
				const gone = await linkedWithin(viewer.id, relativePath(at, homeRoot(viewer.username)));
				await remove();
				if (gone.size > 0) await note(links.remove([...gone.keys()]));
			});
		},
	};
}
