import {
	type Entry,
	formatDate,
	formatListSize,
	formatTime,
	parentPath,
	parsePath,
	plural,
	splitName,
} from '@stowage/rules';

/** Longer endings are part of a sentence with a dot in it rather than extensions. */
const longestTail = 12;

/** Names that no column cuts need no second part. */
const shortName = 20;

/** A name in two parts: the first gives way when there is no room, the end with the extension stays. */
export function nameParts(name: string): { head: string; tail: string } {
	if (name.length <= shortName) return { head: name, tail: '' };
	const { base, extension } = splitName(name);
	// A name that runs from right to left would show its end in the wrong place.
	if (
		extension.length > longestTail ||
		/[\u0590-\u08FF\u200E\u200F\u202A-\u202E\u2066-\u2069\uFB1D-\uFEFC]/.test(name)
	) {
		return { head: name, tail: '' };
	}
	return { head: base, tail: extension };
}

/** The name of a row for a screen reader: the entry's name first, then what the columns say. */
export function rowLabel(entry: Entry, typeLabel: string, where: string | undefined): string {
	const parts = [entry.name, typeLabel];
	if (where !== undefined) parts.push(where);
	if (entry.owner !== undefined) parts.push(ownerLabel(entry.owner));
	if (entry.count !== undefined) parts.push(plural(entry.count, 'item'));
	if (entry.type === 'file') parts.push(formatListSize(entry.size));
	parts.push(`${formatDate(entry.mtime)} ${formatTime(entry.mtime)}`);
	return parts.join(', ');
}

/** How a public listing names an owner; the administrator's entries have none. */
export function ownerLabel(owner: string | null): string {
	return owner === null ? 'no owner' : `owner ${owner}`;
}

/** The folder that a search result lies in. */
export function folderOf(entry: Entry): string {
	return parentPath(parsePath(entry.path));
}
