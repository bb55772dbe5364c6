import { type LetterFilter, matchesLetter } from '@stowage/rules';
import {
	emptySelection,
	type RowKey,
	reduceSelection,
	type Selection,
	type SelectionAction,
} from '../selection/selection.js';
import { type SavedFolder, type SavedFolders, saveFolder, selectionOf } from './savedFolders.js';

/** Who looks at a folder; null for a visitor, and undefined until that is known. */
export type FolderUser = string | null | undefined;

/** The state of the folder on screen. */
export interface FolderState {
	key: string;
	user: FolderUser;
	letter: LetterFilter;
	selection: Selection;
	/** The scroll offset at which the list begins. */
	scrollTop: number;
	/** A row to scroll to once it is there. */
	revealed: RowKey | undefined;
}

/** The folder on screen, and those that were left. */
export interface Folders {
	current: FolderState;
	left: SavedFolders;
}

/** How a folder came on screen. */
export interface Visit {
	key: string;
	user: FolderUser;
	/** Whether Back, Forward or a reload led here: then the folder is as it was left. */
	isReturn: boolean;
	/** The row at which the cursor begins, such as the folder that was left upwards. */
	startKey: RowKey | undefined;
	/** Whether that row is selected, too: it is what the folder was opened for. */
	isStartSelected: boolean;
}

export type FolderAction =
	| { type: 'filtered'; letter: LetterFilter }
	/** An entry is selected and scrolled to, now or once it is in the list; a letter filter that hides it ends. */
	| { type: 'shown'; key: RowKey; name: string }
	| { type: 'revealed' }
	| { type: 'selection'; action: SelectionAction };

export type FoldersAction =
	/** The folder of this visit is on screen, and `action` happened in it. */
	| { type: 'visited'; visit: Visit; action: FolderAction }
	/** The state on screen, if no action has led to it yet. */
	| { type: 'entered'; folders: Folders }
	/** The scroll offset of a folder that was left is known. */
	| { type: 'left'; left: SavedFolders };

export function reduceFolders(folders: Folders, action: FoldersAction): Folders {
	switch (action.type) {
		case 'visited': {
			const entered = enterFolder(folders, action.visit);
			return { ...entered, current: reduceFolder(entered.current, action.action) };
		}
		case 'entered':
			return isSamePlace(action.folders.current, folders.current) ? folders : action.folders;
		case 'left':
			return { ...folders, left: action.left };
	}
}

function reduceFolder(state: FolderState, action: FolderAction): FolderState {
	switch (action.type) {
		case 'filtered':
			return { ...state, letter: action.letter };
		case 'shown': {
			// Until it is in the list the cursor stays where it is.
			const at = { key: action.key, index: state.selection.cursor?.index ?? 0 };
			const letter = matchesLetter(action.name, state.letter) ? state.letter : 'ALL';
			return {
				...state,
				letter,
				selection: reduceSelection(state.selection, { type: 'only', at }),
				revealed: action.key,
			};
		}
		case 'revealed':
			return { ...state, revealed: undefined };
		case 'selection':
			return { ...state, selection: reduceSelection(state.selection, action.action) };
	}
}

/** The state with the folder of a visit on screen: the same if it is already. */
export function enterFolder(folders: Folders, visit: Visit): Folders {
	const { current, left } = folders;
	const { key, user } = visit;
	if (isSamePlace(current, visit)) return folders;
	// Whoever signs in goes on with what is on screen.
	if (current.key === key && current.user === null) return { current: { ...current, user }, left };
	return arrive(visit, save(left, current, savedOf(current, current.scrollTop)));
}

/** The state on arrival in a folder, with no other on screen before. */
export function arrive({ key, user, isReturn, startKey, isStartSelected }: Visit, left: SavedFolders): Folders {
	const savedKey = savedKeyOf({ key, user });
	const saved = isReturn && savedKey !== undefined ? left[savedKey] : undefined;
	const cursor = startKey === undefined ? undefined : { key: startKey, index: 0 };
	const selected = isStartSelected && startKey !== undefined ? new Set([startKey]) : emptySelection.selected;
	const current = {
		key,
		user,
		letter: saved?.letter ?? 'ALL',
		selection: saved ? selectionOf(saved) : { selected, cursor, anchor: startKey },
		scrollTop: saved?.scrollTop ?? 0,
		revealed: saved ? undefined : startKey,
	};
	return { current, left };
}

/** The folders to be saved, with the present scroll offset of one of them. */
export function foldersToSave({ current, left }: Folders, place: Place, scrollTop: number): SavedFolders {
	const saved = isSamePlace(current, place) ? savedOf(current, scrollTop) : left[savedKeyOf(place) ?? ''];
	return saved ? save(left, place, { ...saved, scrollTop }) : left;
}

type Place = Pick<FolderState, 'key' | 'user'>;

function isSamePlace(one: Place, other: Place): boolean {
	return one.key === other.key && one.user === other.user;
}

/** What a user has chosen is shown to no other one: on the same paths that one has other files. */
function savedKeyOf({ key, user }: Place): string | undefined {
	if (user === undefined) return undefined;
	return user === null ? key : `${user}\n${key}`;
}

function save(left: SavedFolders, place: Place, folder: SavedFolder): SavedFolders {
	const key = savedKeyOf(place);
	return key === undefined ? left : saveFolder(left, key, folder);
}

function savedOf({ letter, selection }: FolderState, scrollTop: number): SavedFolder {
	return { letter, scrollTop, selected: [...selection.selected], cursor: selection.cursor };
}
