import {
	type Entry,
	formatDate,
	formatListSize,
	formatTime,
	type MemberRole,
	parentPath,
	parsePath,
	plural,
	rootPath,
	shownName,
	splitName,
} from '@stowage/rules';
import { typeIcon } from '../../../../ui/display/typeIcons.js';
import { filesMessages as messages } from '../../messages.js';

/** Longer endings are rather part of a sentence with a dot than extensions. */
const maxExtensionLength = 12;

/** Names up to this length fit into every column. */
const shortNameLength = 20;

/** Four letters that neither join nor combine with those before them, so that they may be set apart where there is room, too. */
const lastLetters = /[^\p{M}\p{C}]([^\p{M}\p{So}\p{Sk}\p{C}\u1100-\u18AF]{4})$/u;

/** A name in two parts: `head` is truncated when there is no room; `tail` stays, at which copies and photos differ. */
export function nameParts(given: string): { head: string; tail: string } {
	const name = shownName(given);
	const { base, extension } = splitName(name);
	if (
		name.length <= shortNameLength ||
		extension.length > maxExtensionLength ||
		// In a right-to-left name the end would be shown in the wrong place.
		/[\u0590-\u08FF\u200E\u200F\u202A-\u202E\u2066-\u2069\uFB1D-\uFEFC]/.test(name)
	) {
		return { head: name, tail: '' };
	}
	const end = lastLetters.exec(base)?.[1] ?? '';
	return { head: base.slice(0, base.length - end.length), tail: end + extension };
}

/** Characters that fit into the two lines of a tile. */
const tileNameLength = 36;

/** A name in three parts for a tile, of which `middle` is not shown. */
export function tileName(name: string): { head: string; middle: string; tail: string } {
	const { head, tail } = nameParts(name);
	const letters = [...head];
	const room = tileNameLength - tail.length - 1;
	if (tail === '' || letters.length <= room) return { head: head + tail, middle: '', tail: '' };
	return { head: letters.slice(0, room).join(''), middle: letters.slice(room).join(''), tail };
}

/** The accessible name of a row: the entry's name, then the columns. */
export function rowLabel(entry: Entry, isCut: boolean, where: string | undefined): string {
	const parts = [shownName(entry.name), typeIcon(entry).label];
	if (isCut) parts.push('cut');
	if (entry.unreadable) parts.push(messages.unreadable);
	if (where !== undefined) parts.push(where);
	if (entry.members !== undefined) parts.push(membersText(entry.members));
	if (isShared(entry)) parts.push(messages.sharedBy(entry.owner), messages.roles[entry.role]);
	else if (entry.owner !== undefined) parts.push(ownerLabel(entry.owner));
	if (entry.count !== undefined && !entry.unreadable) parts.push(plural(entry.count, 'item'));
	if (entry.type === 'file') parts.push(formatListSize(entry.size));
	parts.push(`${formatDate(entry.mtime)} ${formatTime(entry.mtime)}`);
	return parts.join(', ');
}

/** Whether it is a folder in the list of those that are shared with the user. */
function isShared(entry: Entry): entry is Entry & { owner: string; role: MemberRole } {
	return typeof entry.owner === 'string' && entry.role !== undefined;
}

/** The text beside a name: the owner, and for a shared folder what the user may do in it. */
export function ownerText(entry: Entry): string | undefined {
	return isShared(entry) ? `${entry.owner} · ${messages.roles[entry.role]}` : (entry.owner ?? undefined);
}

/** The number of members of a folder of one's own. */
export function membersText(members: number): string {
	return plural(members, 'member');
}

/** How a public listing names an owner; the administrator's entries have none. */
export function ownerLabel(owner: string | null): string {
	return owner === null ? 'no owner' : `owner ${owner}`;
}

/** The folder of a search result; undefined for the root. */
export function whereOf(entry: Entry): string | undefined {
	const folder = parentPath(parsePath(entry.path));
	return folder === rootPath ? undefined : messages.in(shownName(folder));
}
