import type { StoragePath } from '@stowage/rules';

/** What the rows of `temp_links` have of an item that is followed, with the name of its owner. */
export interface FollowedRow {
	id: string;
	user_id: string;
	username: string;
	path: string;
	next_path: string | null;
	item_id: string;
	created_at: number;
}

/** An item of a home, wherever its owner moves it. */
export function followedItem({ id, user_id, username, path, next_path, item_id, created_at }: FollowedRow) {
	return {
		id,
		owner: { id: user_id, username },
		// They were parsed before they were kept: each may have a thousand levels, and a thousand are read at once.
		path: path as StoragePath,
		nextPath: next_path === null ? undefined : (next_path as StoragePath),
		itemId: item_id,
		createdAt: created_at,
	};
}
