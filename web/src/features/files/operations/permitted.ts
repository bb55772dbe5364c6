import {
	type Area,
	type Entry,
	type Failure,
	type Item,
	itemOf,
	refuseCopy,
	refuseCut,
	refuseDelete,
	refuseMoveToPrivate,
	refuseMoveToPublic,
	refuseRename,
	splitOwned,
	type Viewer,
} from '@stowage/rules';

/** What is asked of the rules entry by entry. */
export type GuardedAction = 'rename' | 'cut' | 'copy' | 'delete' | 'moveToPublic' | 'moveToPrivate';

const refusals: Readonly<Record<GuardedAction, (viewer: Viewer, item: Item) => Failure | undefined>> = {
	rename: refuseRename,
	cut: refuseCut,
	copy: refuseCopy,
	delete: refuseDelete,
	moveToPublic: refuseMoveToPublic,
	moveToPrivate: refuseMoveToPrivate,
};

export interface Permitted {
	/** Those with which the action goes on. */
	entries: Entry[];
	/** What to say about the others; undefined if there are none. */
	message: string | undefined;
}

/** Parts a selection into what an action may be done with and what is skipped with a message (spec, section 6). */
export function permittedFor(action: GuardedAction, viewer: Viewer, area: Area, entries: readonly Entry[]): Permitted {
	const permitted: Entry[] = [];
	let first: Failure | undefined;
	for (const entry of entries) {
		const refusal = refuse(action, viewer, itemOf(area, entry));
		if (refusal) first ??= refusal;
		else permitted.push(entry);
	}
	if (!first) return { entries: permitted, message: undefined };
	const isPartly = permitted.length > 0 && first.kind === 'notOwner';
	return { entries: permitted, message: isPartly ? splitOwned(entries, viewer).message : first.message };
}

/** A visitor is told that it is not theirs, and to sign in only where that would help. */
function refuse(action: GuardedAction, viewer: Viewer, item: Item): Failure | undefined {
	const refusal = refusals[action](viewer, item);
	return refusal?.kind === 'notSignedIn' ? (refusals[action](somebody, item) ?? refusal) : refusal;
}

const somebody: Viewer = { kind: 'user', id: '', username: '' };
