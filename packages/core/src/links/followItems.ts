import type { LinkRecord, LinkStore, StorageProvider } from '@stowage/plugin-api';
import { homeRoot, isWithin, joinPath, relativePath, type StoragePath } from '@stowage/rules';
import type { ItemWatcher } from '../files/itemWatcher.js';
import type { Log } from '../log.js';
import { createTurns } from '../turns.js';
import { isPublicPath, locateLink } from './locateLink.js';
import { noteIfPossible } from './noteIfPossible.js';

export interface LinkFollower extends ItemWatcher {
	/** Runs `work` while none of that person's linked items is on its way. */
	atRest<T>(ownerId: string, work: () => Promise<T>): Promise<T>;
}

interface Parts {
	links: LinkStore;
	storage: () => StorageProvider;
	log: Log;
}

/**
 * Lets links follow their items through moves, and end with them. Where each is about to go is written down before the disk changes and settled after it, so
 * that a server that dies in between has lost none: `locateLink` looks at both places.
 */
export function followItems({ links, storage, log }: Parts): LinkFollower {
	// Moves of one person who has links take turns, or each would plan for paths that another is changing.
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

	/** Some of them may have been moved out in time: the disk says which are gone. */
	const removeGone = async (ownerId: string, among: ReadonlyMap<string, StoragePath>): Promise<void> => {
		const gone: string[] = [];
		for (const link of await links.list(ownerId)) {
			if (among.has(link.id) && (await locateLink(storage(), link)) === undefined) gone.push(link.id);
		}
		await links.remove(gone);
	};

	/** The disk has changed: what can't be written now is found out by whoever follows the link. */
	const note = (write: Promise<unknown>) => noteIfPossible(log, write);

	return {
		async moving(viewer, from, to, move) {
			if (viewer.kind === 'anonymous' || !(await hasLinks(viewer.id))) return move();
			return inTurn(viewer.id, async () => {
				const home = homeRoot(viewer.username);
				const [source, target] = [relativePath(from, home), relativePath(to, home)];
				const moves = new Map<string, { path: StoragePath; nextPath: StoragePath }>();
				for (const [id, path] of await linkedWithin(viewer.id, source))
					moves.set(id, { path, nextPath: joinPath(target, relativePath(path, source)) });
				if (moves.size === 0) return move();
				await links.plan(moves);
				const moved = await move();
				const places = new Map([...moves].map(([id, { nextPath }]) => [id, nextPath]));
				await note(isPublicPath(target) ? links.remove([...moves.keys()]) : links.settle(places));
				return moved;
			});
		},

		async removing(viewer, at, remove) {
			if (viewer.kind === 'anonymous' || !(await hasLinks(viewer.id))) return remove();
			const within = await linkedWithin(viewer.id, relativePath(at, homeRoot(viewer.username)));
			await remove();
			// In turn, or one that moves just then would be taken for gone.
			if (within.size > 0) await note(inTurn(viewer.id, () => removeGone(viewer.id, within)));
		},

		atRest: inTurn,
	};
}
