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
	renameDenial,
	splitOwned,
	type Viewer,
} from '@stowage/rules';

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
	/** The entries that the action applies to. */
	entries: Entry[];
	/** The sentence about the others; undefined if there are none. */
	message: string | undefined;
}

/** Splits a selection into the entries that an action is permitted for and those that are skipped with a message (spec, section 6). */
export function permittedFor(action: GuardedAction, viewer: Viewer, area: Area, entries: readonly Entry[]): Permitted {
	const permitted: Entry[] = [];
	let first: Failure | undefined;
	for (const entry of entries) {
		const refusal = denialOf(action, viewer, itemOf(area, entry));
		if (refusal) first ??= refusal;
		else permitted.push(entry);
	}
	if (!first) return { entries: permitted, message: undefined };
	const isPartly = permitted.length > 0 && first.kind === 'notOwner';
	return { entries: permitted, message: isPartly ? splitOwned(entries, viewer).message : first.message };
}

/** The refusal for a visitor is that of a user who does not own the item: 'sign in' is said only where signing in would help. */
function denialOf(action: GuardedAction, viewer: Viewer, item: Item): Failure | undefined {
	const refusal = refusals[action](viewer, item);
	return refusal?.kind === 'notSignedIn' ? (refusals[action](anyUser, item) ?? refusal) : refusal;
}

const anyUser: Viewer = { kind: 'user', id: '', username: '' };
