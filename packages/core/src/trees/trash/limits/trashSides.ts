import type { OwnersTrashCount, TrashCount } from '@stowage/plugin-api';
import { anonymousOwner } from '@stowage/rules';

/** What is kept at most of one kind that a user has put in, and as much of what members of the user's folders have. */
export const keptOfSide: TrashCount = { items: 100_000, pathBytes: 64 * 1024 * 1024 };

export const nothing: TrashCount = { items: 0, pathBytes: 0 };

export function sum(counts: readonly TrashCount[]): TrashCount {
	const all = { ...nothing };
	for (const { items, pathBytes } of counts) {
		all.items += items;
		all.pathBytes += pathBytes;
	}
	return all;
}

/** What the owner has put in, and what members of their folders have. */
export function sidesOf(ownerId: string, { items, pathBytes, ofOthers }: OwnersTrashCount) {
	// Of what visitors had the administrator removes.
	const ofMembers = ownerId === anonymousOwner ? nothing : sum([...ofOthers.values()]);
	return { own: { items: items - ofMembers.items, pathBytes: pathBytes - ofMembers.pathBytes }, ofMembers };
}
