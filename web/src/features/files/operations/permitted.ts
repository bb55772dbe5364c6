import {
	type Area,
	convertDenial,
	copyDenial,
	cutDenial,
	deleteDenial,
	deleteForeverDenial,
	type Entry,
	type Failure,
	type Item,
	itemOf,
	moveToPrivateDenial,
	moveToPublicDenial,
	parentPath,
	parsePath,
	renameDenial,
	splitOwned,
	type Viewer,
} from '@stowage/rules';
import { keyOf } from '../list/rows.js';

/** The actions that the rules permit or refuse entry by entry. */
export type GuardedAction =
	| 'rename'
	| 'convert'
	| 'cut'
	| 'copy'
	| 'delete'
	| 'deleteForever'
	| 'moveToPublic'
	| 'moveToPrivate';

const refusals: Readonly<Record<GuardedAction, (viewer: Viewer, item: Item) => Failure | undefined>> = {
	rename: renameDenial,
	convert: convertDenial,
	cut: cutDenial,
	copy: copyDenial,
	delete: deleteDenial,
	deleteForever: deleteForeverDenial,
	moveToPublic: moveToPublicDenial,
	moveToPrivate: moveToPrivateDenial,
};

export interface Permitted {
	/** The entries that the action applies to: of those that go with their folder, the folder only. */
	entries: Entry[];
	/** The sentence about the others; undefined if there are none. */
	message: string | undefined;
}

/** Splits a selection into the entries that an action is permitted for and those that are skipped with a message (spec, section 6). */
export function permittedFor(action: GuardedAction, viewer: Viewer, area: Area, entries: readonly Entry[]): Permitted {
	const allowed: Entry[] = [];
	let first: Failure | undefined;
	for (const entry of entries) {
		const refusal = denialOf(action, viewer, itemOf(area, entry));
		if (refusal) first ??= refusal;
		else allowed.push(entry);
	}
	const permitted = takenAway.has(action) ? outermost(allowed) : allowed;
	if (!first) return { entries: permitted, message: undefined };
	const isPartly = permitted.length > 0 && first.kind === 'notOwner';
	return { entries: permitted, message: isPartly ? splitOwned(entries, viewer).message : first.message };
}

/** Whoever takes a folder away takes what is in it. */
const takenAway: ReadonlySet<GuardedAction> = new Set([
	'cut',
	'delete',
	'deleteForever',
	'moveToPublic',
	'moveToPrivate',
]);

/** The entries without those that lie in other ones of them, such as among the results of a search. */
export function outermost<E extends Pick<Entry, 'path' | 'type' | 'owner' | 'role'>>(entries: readonly E[]): E[] {
	const directories = entries.filter(({ type }) => type === 'directory');
	const folders = new Set(directories.map(keyOf));
	// Paths have up to a thousand folders: no key is made of one that is as long as none of these.
	const lengths = new Set(directories.map(({ path }) => path.length));
	if (folders.size === 0) return [...entries];
	return entries.filter((entry) => {
		for (let path = parentPath(parsePath(entry.path)); path !== ''; path = parentPath(path)) {
			if (lengths.has(path.length) && folders.has(keyOf({ ...entry, path }))) return false;
		}
		return true;
	});
}

/** The refusal for a visitor is that of a user who does not own the item: 'sign in' is said only where signing in would help. */
function denialOf(action: GuardedAction, viewer: Viewer, item: Item): Failure | undefined {
	const refusal = refusals[action](viewer, item);
	return refusal?.kind === 'notSignedIn' ? (refusals[action](anyUser, item) ?? refusal) : refusal;
}

const anyUser: Viewer = { kind: 'user', id: '', username: '' };
