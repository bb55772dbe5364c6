import {
	type Area,
	type Clipboard,
	convertDenial,
	copyDenial,
	createFolderDenial,
	cutDenial,
	deleteDenial,
	type Entry,
	type Failure,
	fileType,
	hasPlainLink,
	type Item,
	itemOf,
	leaveDenial,
	type MemberRole,
	moveToPrivateDenial,
	moveToPublicDenial,
	planPaste,
	previewOf,
	renameDenial,
	replaceDenial,
	type StoragePath,
	shareDenial,
	temporaryLinkDenial,
	uploadDenial,
	type Viewer,
} from '@stowage/rules';

/** All actions on a folder and its entries. */
export type Action =
	| 'createFolder'
	| 'createFile'
	| 'uploadFiles'
	| 'uploadFolder'
	| 'paste'
	| 'selectAll'
	| 'refresh'
	| 'open'
	| 'preview'
	| 'download'
	| 'downloadZip'
	| 'temporaryLink'
	| 'share'
	| 'members'
	| 'leave'
	| 'copyLink'
	| 'convert'
	| 'rename'
	| 'versions'
	| 'cut'
	| 'copy'
	| 'moveToPublic'
	| 'moveToPrivate'
	| 'delete'
	| 'deleteForever';

/** The actions of the trash's menus. */
export type TrashAction = 'restore' | 'deleteForever' | 'emptyTrash' | 'selectAll' | 'refresh';

export type AnyAction = Action | TrashAction;

export interface MenuItem<A extends AnyAction = Action> {
	action: A;
	label: string;
	/** The key of the same action, as it is shown. */
	shortcut?: string;
	/** Whether it applies here but is not possible now. */
	isDisabled?: boolean;
}

/** The state that the items of a menu depend on. */
export interface MenuContext {
	viewer: Viewer;
	area: Area;
	directory: StoragePath;
	/** What the viewer may do in a shared folder. */
	role: MemberRole | undefined;
	/** Whether deleted files are kept. Where they are not, members delete nothing. */
	hasTrash: boolean;
	/** The list shows the results of a search in this folder and below. */
	isSearch: boolean;
	/** How many entries the list shows. */
	shown: number;
	clipboard: Clipboard | undefined;
	/** Whether the administrator allows shares. */
	mayShare: boolean;
}

export type MenuKind = 'global' | 'single' | 'multi';

export function menuKind(entries: readonly Entry[]): MenuKind {
	if (entries.length === 0) return 'global';
	return entries.length === 1 ? 'single' : 'multi';
}

/**
 * The groups of the menu for these entries, or for the folder on screen if there are none. Actions that do not apply are
 * left out; those that are not possible now are disabled.
 */
export function menuFor(context: MenuContext, entries: readonly Entry[]): MenuItem[][] {
	const groups = entries.length === 0 ? folderGroups(context) : entryGroups(context, entries);
	return groups.map((group) => group.filter((item) => item !== undefined)).filter((group) => group.length > 0);
}

type OptionalItem = MenuItem | undefined;

function folderGroups(context: MenuContext): OptionalItem[][] {
	const { viewer, area, directory, role, isSearch, shown } = context;
	const folder: Item = { area, path: directory, role };
	const mayWrite = (refusal: Failure | undefined) => !isSearch && refusal === undefined;
	return [
		[
			mayWrite(createFolderDenial(viewer, folder)) ? { action: 'createFolder', label: 'Create Folder' } : undefined,
			mayWrite(createFolderDenial(viewer, folder)) ? { action: 'createFile', label: 'Create File' } : undefined,
			mayWrite(uploadDenial(viewer, folder)) ? { action: 'uploadFiles', label: 'Upload Files' } : undefined,
			mayWrite(createFolderDenial(viewer, folder)) ? { action: 'uploadFolder', label: 'Upload Folder' } : undefined,
		],
		[
			mayWrite(createFolderDenial(viewer, folder))
				? { action: 'paste', label: 'Paste', shortcut: 'Ctrl+V', isDisabled: !canPaste(context) }
				: undefined,
			{ action: 'selectAll', label: 'Select All', shortcut: 'Ctrl+A', isDisabled: shown === 0 },
		],
		[{ action: 'refresh', label: 'Refresh' }],
	];
}

/** Whether there is a preview for it, and it is not too large for that. */
export function isPreviewable({ type, name, size }: Entry): boolean {
	return type === 'file' && previewOf(name, size).isPreviewable;
}

/** Whether it can be converted, by its name. */
export function isVideo({ type, name }: Entry): boolean {
	return type === 'file' && fileType(name) === 'video';
}

function canPaste({ clipboard, viewer, area, directory }: MenuContext): boolean {
	return clipboard !== undefined && planPaste(clipboard, viewer, area, directory).kind !== 'refused';
}

function entryGroups({ viewer, area, mayShare, hasTrash }: MenuContext, entries: readonly Entry[]): OptionalItem[][] {
	const items = entries.map((entry) => itemOf(area, entry));
	const [entry] = entries;
	const single = entries.length === 1 ? entry : undefined;
	// Entries of a selection that may not be cut, copied, moved or deleted are skipped with a message.
	const some = (refuse: DenialOf) => items.some((item) => refuse(viewer, item) === undefined);
	const every = (refuse: DenialOf) => items.every((item) => refuse(viewer, item) === undefined);
	return [
		[
			single?.type === 'directory' ? { action: 'open', label: 'Open', shortcut: 'Enter' } : undefined,
			single && isPreviewable(single) ? { action: 'preview', label: 'Preview', shortcut: 'Shift+Enter' } : undefined,
			entries.every(({ type }) => type === 'file') ? { action: 'download', label: 'Download' } : undefined,
			single?.type === 'file' ? undefined : { action: 'downloadZip', label: 'Download as ZIP' },
			single && every(temporaryLinkDenial) ? { action: 'temporaryLink', label: 'Temporary Link' } : undefined,
			mayShare && every(shareDenial) ? { action: 'share', label: 'Share' } : undefined,
			single?.type === 'directory' && every(shareDenial) ? { action: 'members', label: 'Members' } : undefined,
			single && items.every(hasPlainLink) ? { action: 'copyLink', label: 'Copy Link' } : undefined,
		],
		[
			some(cutDenial) ? { action: 'cut', label: 'Cut', shortcut: 'Ctrl+X' } : undefined,
			some(copyDenial) ? { action: 'copy', label: 'Copy', shortcut: 'Ctrl+C' } : undefined,
			single && some(renameDenial) ? { action: 'rename', label: 'Rename', shortcut: 'F2' } : undefined,
			entries.some((entry) => isVideo(entry) && convertDenial(viewer, itemOf(area, entry)) === undefined)
				? { action: 'convert', label: 'Convert Video', shortcut: 'F8' }
				: undefined,
			(single?.versions ?? 0) > 0 && every(replaceDenial) ? { action: 'versions', label: 'Versions' } : undefined,
		],
		[
			some(moveToPublicDenial) ? { action: 'moveToPublic', label: 'Move to Public' } : undefined,
			every(moveToPrivateDenial) ? { action: 'moveToPrivate', label: 'Move back to Private' } : undefined,
		],
		[
			some(deleteDenial) && (hasTrash || area !== 'shared')
				? { action: 'delete', label: 'Delete', shortcut: 'Del' }
				: undefined,
			single && every(leaveDenial) ? { action: 'leave', label: 'Leave' } : undefined,
		],
	];
}

type DenialOf = (viewer: Viewer, item: Item) => Failure | undefined;
