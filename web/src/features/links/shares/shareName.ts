import { baseName, parsePath, plural, shownName } from '@stowage/rules';
import type { Share } from '../../../api/shares.js';

/** What its owner knows a share by, as it is shown: its title or, since guests are shown no name of what only receives files, its item. */
export function shareName({ title, items }: Pick<Share, 'title' | 'items'>): string {
	const [only] = items;
	return shownName(
		title || (items.length === 1 && only ? baseName(parsePath(only.path)) : plural(items.length, 'item')),
	);
}
