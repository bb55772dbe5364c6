import { dialogMessages } from '../dialogs/messages.js';
import type { MenuItem, TrashAction } from '../menu/menu.js';
import { filesMessages as messages } from '../messages.js';
import { trashMessages } from './messages.js';

/** The groups of the menu for so many items of the trash, or for the trash itself if there are none. */
export function trashMenuFor(chosen: number, shown: number): MenuItem<TrashAction>[][] {
	if (chosen > 0) {
		return [
			[{ action: 'restore', label: messages.restore }],
			[{ action: 'deleteForever', label: dialogMessages.deleteForever, shortcut: 'Del' }],
		];
	}
	const isDisabled = shown === 0;
	return [
		[{ action: 'selectAll', label: 'Select All', shortcut: 'Ctrl+A', isDisabled }],
		[{ action: 'refresh', label: 'Refresh' }],
		[{ action: 'emptyTrash', label: trashMessages.emptyTrash, isDisabled }],
	];
}
