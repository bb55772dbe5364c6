import type { Area, Entry, MoveDirection } from '@stowage/rules';

/** The open dialog. Its entries are those that the action is permitted for. */
export type FileDialog =
	| { kind: 'create'; what: 'file' | 'folder' }
	| { kind: 'rename'; entry: Entry }
	| { kind: 'delete'; entries: readonly Entry[] }
	| { kind: 'deleteForever'; entries: readonly Entry[] }
	| { kind: 'move'; direction: MoveDirection; entries: readonly Entry[] }
	| { kind: 'versions'; entry: Entry }
	| OtherDialog;

/** The dialogs of other features. */
export type OtherDialog =
	| { kind: 'download'; entries: readonly Entry[]; asZip: boolean }
	| { kind: 'temporaryLink'; entry: Entry }
	| { kind: 'share'; entries: readonly Entry[] }
	| { kind: 'members'; entry: Entry }
	| { kind: 'leave'; entry: Entry }
	/** The dialog of conversions, which may stay open where another area is on screen. */
	| { kind: 'convert'; area: Area; entries: readonly Entry[] };

/** The properties of every dialog. */
export interface DialogProps {
	isOpen: boolean;
	onClose: () => void;
	/** Called once it has faded out. */
	onClosed: () => void;
}
