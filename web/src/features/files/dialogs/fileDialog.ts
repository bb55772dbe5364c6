import { type Entry, plural } from '@stowage/rules';

/** The dialog that is open. The entries are those that the action is permitted for. */
export type FileDialog =
	| { kind: 'createFolder' }
	| { kind: 'rename'; entry: Entry }
	| { kind: 'delete'; entries: readonly Entry[] }
	| { kind: 'move'; direction: MoveDirection; entries: readonly Entry[] }
	| SharingDialog;

/** Those that another feature shows. */
export type SharingDialog =
	| { kind: 'download'; entries: readonly Entry[]; asZip: boolean }
	| { kind: 'temporaryLink'; entry: Entry };

export type MoveDirection = 'toPublic' | 'toPrivate';

/** How a sentence names what it is about: `report.pdf` or `3 items`. */
export function nameItems(items: readonly { name: string }[]): string {
	const [first] = items;
	return items.length === 1 && first ? first.name : plural(items.length, 'item');
}
