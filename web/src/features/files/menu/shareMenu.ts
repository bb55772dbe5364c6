import type { Entry, StoragePath, Viewer } from '@stowage/rules';
import { type MenuItem, menuFor } from './menu.js';

/** Who has the address of a share, as the rules of the page know them: with no right but to read. */
export const shareReader: Viewer = { kind: 'anonymous', access: 'off' };

export interface ShareMenuContext {
	directory: StoragePath;
	isSearch: boolean;
	/** How many entries the list shows. */
	shown: number;
	/** Whether the share can be downloaded only. */
	isLimited: boolean;
}

/** The groups of the menu for these entries, or for the folder if there are none. */
export function shareMenuFor({ isLimited, ...folder }: ShareMenuContext, entries: readonly Entry[]): MenuItem[][] {
	const nobody = { viewer: shareReader, role: undefined, mayShare: false, hasTrash: false, clipboard: undefined };
	const groups = menuFor({ ...folder, ...nobody, area: 'private' }, entries);
	return isLimited ? groups.map((group) => group.filter(({ action }) => action !== 'preview')) : groups;
}
