import { type Entry, previewOf } from '@stowage/rules';

export interface Neighbours {
	previous: Entry | undefined;
	next: Entry | undefined;
}

/** Kinds that are viewed, or listened to, one after another. */
export function isSequence(kind: string): boolean {
	return kind === 'image' || kind === 'audio';
}

/** The files of the same kind before and after this one, in the order on screen. */
export function neighboursOf(entries: readonly Entry[], entry: Entry, kind: string): Neighbours {
	const at = entries.findIndex(({ path, owner }) => path === entry.path && owner === entry.owner);
	if (at < 0 || !isSequence(kind)) return { previous: undefined, next: undefined };
	const isAlike = ({ type, name, size }: Entry) => {
		const preview = previewOf(name, size);
		return type === 'file' && preview.kind === kind && preview.isPreviewable;
	};
	return { previous: entries.slice(0, at).findLast(isAlike), next: entries.slice(at + 1).find(isAlike) };
}
