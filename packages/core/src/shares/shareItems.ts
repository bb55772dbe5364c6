import { type Guest, joinChecked, parsePath, relativePath, type StoragePath } from '@stowage/rules';
import { type AuditEvent, chosen } from '../audit/auditLine.js';
import type { Visit } from './createGuests.js';

/** The guest with a shared folder as an item in a list, so that the folder itself can be selected. */
export function sideBySide(guest: Guest): Guest {
	return guest.root.kind === 'items' ? guest : { ...guest, root: { kind: 'items', items: [guest.root.folder] } };
}

/** All that is shared, as `sideBySide` has it. */
export function wholeShare({ root }: Guest): { path: StoragePath }[] {
	const items = root.kind === 'folder' ? [root.folder] : root.items;
	return items.map(({ name }) => ({ path: parsePath(name) }));
}

/** What the audit log says of items of a share: their places in the home, which its owner knows. */
export function shareEvent({ share, guest }: Visit, items: readonly { path: StoragePath }[]): Partial<AuditEvent> {
	const inHome = chosen(items, ({ path }) => ({ path: homePathOf(guest, path) }));
	return { share: share.id, owner: share.owner.username, area: 'private', ...inHome };
}

function homePathOf({ root }: Guest, path: StoragePath): StoragePath {
	const [name = ''] = path.split('/');
	if (root.kind === 'folder') return joinChecked(root.folder.path, path);
	const item = root.items.find((each) => each.name === name);
	return item === undefined ? path : joinChecked(item.path, relativePath(path, parsePath(name)));
}
