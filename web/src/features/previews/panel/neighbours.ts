import { type Entry, previewOf } from '@stowage/rules';

export interface Neighbours {
	previous: Entry | undefined;
	next: Entry | undefined;
}

/** Kinds that are viewed, or listened to, one after another. */
export function isSequence(kind: string): boolean {
	return kind === 'image' || kind === 'audio';
}

/**
 * The files of the same kind before and after this one, in the order on screen. `listed` are the entries of the folder
 * when they last contained this one, if it was renamed, moved or deleted since: then the neighbours are those of its
 * old place that still exist.
 */
export function neighboursOf(entries: readonly Entry[], entry: Entry, kind: string, listed = entries): Neighbours {
	const id = idOf(entry);
	const at = listed.findIndex((other) => idOf(other) === id);
	if (at < 0 || !isSequence(kind)) return { previous: undefined, next: undefined };
	const existing = listed === entries ? undefined : new Set(entries.map(idOf));
	const isAlike = (other: Entry) => {
		const preview = previewOf(other.name, other.size);
		const isShown = other.type === 'file' && preview.kind === kind && preview.isPreviewable;
		return isShown && (existing === undefined || existing.has(idOf(other)));
	};
	return { previous: listed.slice(0, at).findLast(isAlike), next: listed.slice(at + 1).find(isAlike) };
}

/** Whether a listing contains this file. */
export function isListed(entries: readonly Entry[], entry: Entry): boolean {
	const id = idOf(entry);
	return entries.some((other) => idOf(other) === id);
}

/** An owner's name has no slash. */
function idOf({ owner, path }: Entry): string {
	return `${owner}/${path}`;
}
