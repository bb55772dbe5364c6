import type { ReboundLink } from '@stowage/plugin-api';
import { joinPath, type StoragePath } from '@stowage/rules';
import { linksOf } from '../links/linksOf.js';
import { locateLink } from '../links/locateLink.js';
import { identityOf } from '../trees/identity.js';
import { prefixed } from '../trees/storage/rootIds.js';
import type { HomeMoveParts, Move } from './HomeMove.js';

/** The links of the user and the items of their shares, bound to the copies of their items. */
export async function reboundLinks(
	{ database }: HomeMoveParts,
	{ job, source, target, home }: Move,
): Promise<ReboundLink[]> {
	const rebound: ReboundLink[] = [];
	const before = {
		stat: async (path: StoragePath) => prefixed(await source.storage.stat(path), source.idPrefix),
		open: (path: StoragePath) => source.storage.open(path),
	};
	for await (const link of linksOf(database.links, { ownerId: job.viewer.id, withShares: true })) {
		const located = await locateLink(before, link);
		if (located === undefined) continue;
		const item = prefixed(await target.storage.stat(joinPath(home, located.path)), target.idPrefix);
		rebound.push({ id: link.id, expectedItemId: link.itemId, itemId: identityOf(item) });
	}
	return rebound;
}
