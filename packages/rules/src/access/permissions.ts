import { Failure } from '../failure.js';
import type { Entry } from '../listing/listing.js';
import { isWithin, parentPath, parsePath, relativePath, type StoragePath } from '../names/paths.js';
import {
	type Area,
	anonymousOwner,
	homePath,
	isProtected,
	isVisibleOwner,
	type Owner,
	type PublicListing,
	publicFolderName,
	type Viewer,
} from './areas.js';
import type { MemberRole } from './shares.js';

/** A file or folder that exists or is to be created. The rules need no more, so they apply before the disk is accessed. */
export interface Item {
	area: Area;
	/**
	 * The owner in the public area, or of a shared folder. Without one a call that writes means the viewer's own tree,
	 * one that reads any visible tree.
	 */
	owner?: Owner | undefined;
	path: StoragePath;
	/** What the viewer may do with it in a shared folder, as far as that is known: the folder has the last word. */
	role?: MemberRole | undefined;
}

export function itemOf(area: Area, entry: Pick<Entry, 'path' | 'owner' | 'role'>): Item {
	const { owner, path, role } = entry;
	return { area, owner, path: parsePath(path), ...(role === undefined ? {} : { role }) };
}

/** Throws the denial, if there is one: `assertAllowed(renameDenial(viewer, item))`. */
export function assertAllowed(denial: Failure | undefined): void {
	if (denial) throw denial;
}

// Each rule below returns why it is refused to the viewer, or undefined if it is permitted (spec, sections 5 and 6).

export const notOwnedMessage = 'You do not own any of the selected items';

/** Browsing or searching an area. `isVisibleOwner` decides which trees are shown. */
export function browseDenial(viewer: Viewer, area: Area): Failure | undefined {
	if (area === 'private') return viewer.kind === 'guest' ? undefined : anonymousDenial(viewer);
	return area === 'shared' ? anonymousDenial(viewer) : visitorDenial(viewer, 'read');
}

/**
 * Reading a file or a folder with all below it. Everything below a public root can be read by anyone who has its
 * link, unless visitors may not read at all; a root itself only by those whose listings show it.
 */
export function readDenial(viewer: Viewer, item: Item, publicListing: PublicListing = 'own'): Failure | undefined {
	if (item.area === 'private') {
		if (viewer.kind === 'guest') return item.owner === undefined ? undefined : notFound(item);
		return anonymousDenial(viewer) ?? (isForeign(viewer, item) ? notFound(item) : undefined);
	}
	if (item.area === 'shared') return anonymousDenial(viewer);
	const denial = visitorDenial(viewer, 'read');
	if (denial || item.owner === undefined || item.path !== '') return denial;
	return isVisibleOwner(viewer, item.owner, publicListing) ? undefined : notFound(item);
}

/** Uploading into a folder. */
export function uploadDenial(viewer: Viewer, folder: Item): Failure | undefined {
	if (viewer.kind === 'user' || folder.area !== 'public') return putDenial(viewer, folder);
	const denial = visitorDenial(viewer, 'upload');
	if (denial) return denial;
	if (folder.owner !== undefined && folder.owner !== anonymousOwner) return notOwner();
	if (folder.path === '') return undefined;
	return new Failure('forbidden', 'Anonymous uploads/folders are only allowed at the root public folder.');
}

/** Creating a folder in a folder. */
export function createFolderDenial(viewer: Viewer, folder: Item): Failure | undefined {
	if (viewer.kind !== 'user' && folder.area === 'public') {
		return new Failure('notSignedIn', 'You must be logged in to create folders in public.');
	}
	return putDenial(viewer, folder);
}

export function renameDenial(viewer: Viewer, item: Item): Failure | undefined {
	return changeDenial(viewer, item) ?? protectedDenial(item, 'rename');
}

export function deleteDenial(viewer: Viewer, item: Item): Failure | undefined {
	return changeDenial(viewer, item) ?? protectedDenial(item, 'delete');
}

/** Deleting an item past the trash: members leave that to the owner. */
export function deleteForeverDenial(viewer: Viewer, item: Item): Failure | undefined {
	const denial = deleteDenial(viewer, item);
	return denial ?? (item.area === 'shared' ? notOwner('Only its owner can delete this forever.') : undefined);
}

/** Replacing a file by another one: who may not delete it may not replace it. A visitor replaces nothing. */
export function replaceDenial(viewer: Viewer, item: Item): Failure | undefined {
	if (viewer.kind !== 'user') return new Failure('forbidden', 'You must be logged in to replace files.');
	return changeDenial(viewer, item) ?? protectedDenial(item, 'replace');
}

/** Putting an item on the clipboard to be moved. */
export function cutDenial(viewer: Viewer, item: Item): Failure | undefined {
	return changeDenial(viewer, item, 'Cannot cut files you do not own') ?? protectedDenial(item, 'cut');
}

/** Putting an item on the clipboard to be copied; a public one of any owner can be. */
export function copyDenial(viewer: Viewer, item: Item): Failure | undefined {
	const denial = item.area === 'public' ? anonymousDenial(viewer) : foreignDenial(viewer, item);
	// A shared folder is copied as a whole.
	return denial ?? (item.area === 'shared' && item.path !== '' ? undefined : protectedDenial(item, 'copy'));
}

/**
 * Moving an item to a full new path, in the same area or the other. The rules of 'Move to Public' and 'Move back to Private' apply if it
 * is one of them.
 */
export function moveDenial(viewer: Viewer, item: Item, target: Item): Failure | undefined {
	return moveToDenial(viewer, item, targetAt(target));
}

function moveToDenial(viewer: Viewer, item: Item, target: Target): Failure | undefined {
	const denial = changeDenial(viewer, item) ?? foreignDenial(viewer, target) ?? directionDenial(viewer, item, target);
	if (denial) return denial;
	if (!isSameTree(item, target)) return undefined;
	const from = homePath(item.area, item.path);
	if (target.folder === parentPath(from)) {
		return new Failure('invalid', 'Cannot move an item into the folder that it is in');
	}
	return isWithin(target.folder, from) ? new Failure('invalid', 'Cannot move a folder into itself') : undefined;
}

/** Copying an item to a full new path, in the same area or the other. The same folder is fine: the copy gets a new name. */
export function copyToDenial(viewer: Viewer, item: Item, target: Item): Failure | undefined {
	return copyToTargetDenial(viewer, item, targetAt(target));
}

function copyToTargetDenial(viewer: Viewer, item: Item, target: Target): Failure | undefined {
	const denial = copyDenial(viewer, item) ?? foreignDenial(viewer, target);
	if (denial || isForeign(viewer, item) || !isSameTree(item, target)) return denial;
	return isWithin(target.folder, homePath(item.area, item.path))
		? new Failure('invalid', 'Cannot copy a folder into itself')
		: undefined;
}

/** Where an item is moved or copied to. */
interface Target extends Pick<Item, 'area' | 'owner'> {
	/** The folder that it comes into, as the home has it. */
	folder: StoragePath;
	isPublic: boolean;
}

function targetAt(target: Item): Target {
	const { area, owner, path } = target;
	return { area, owner, folder: parentPath(homePath(area, path)), isPublic: isPublic(target) };
}

/**
 * Why one of many items that are cut or copied into a folder of an area can't get a name there. Of them only their own paths are looked
 * at, however deep the folder is.
 */
export function pasteDenials(
	operation: 'cut' | 'copy',
	viewer: Viewer,
	area: Area,
	directory: StoragePath,
): (item: Item, name: string) => Failure | undefined {
	const folder = homePath(area, directory);
	const isPublicFolder = isPublic({ area, path: directory });
	return (item, name) => {
		const isTargetPublic = isPublicFolder || (area === 'private' && directory === '' && name === publicFolderName);
		const target = { area, owner: undefined, folder, isPublic: isTargetPublic };
		if (operation === 'copy') return copyToTargetDenial(viewer, item, target);
		return cutDenial(viewer, item) ?? moveToDenial(viewer, item, target);
	};
}

/** Whether paths of both can be compared: what is shared with the viewer lies in homes of others. */
function isSameTree(item: Item, target: Target): boolean {
	return (item.area === 'shared') === (target.area === 'shared');
}

function directionDenial(viewer: Viewer, item: Item, target: Target): Failure | undefined {
	if (isPublic(item) === target.isPublic) return protectedDenial(item, 'move');
	return target.isPublic ? moveToPublicDenial(viewer, item) : moveToPrivateDenial(viewer, publicItem(item));
}

/** An item below `Public` in a home, as the public area has it. */
function publicItem(item: Item): Item {
	if (item.area === 'public') return item;
	return { area: 'public', owner: item.owner, path: relativePath(item.path, parsePath(publicFolderName)) };
}

/** 'Move to Public', from the private view. */
export function moveToPublicDenial(viewer: Viewer, item: Item): Failure | undefined {
	const denial = foreignDenial(viewer, item);
	if (denial) return denial;
	if (item.area !== 'private') return new Failure('invalid', 'Only private items can be moved to public');
	return (
		protectedDenial(item, 'move') ??
		(hasPlainLink(item) ? new Failure('invalid', 'Items in Public are public already') : undefined)
	);
}

/** 'Move back to Private', from the public view. */
export function moveToPrivateDenial(viewer: Viewer, item: Item): Failure | undefined {
	const denial = foreignDenial(viewer, item);
	if (denial) return denial;
	if (item.area !== 'public') return new Failure('invalid', 'Only public items can be moved back to private');
	return protectedDenial(item, 'move');
}

/** Making a temporary link; only private items need one. */
export function temporaryLinkDenial(viewer: Viewer, item: Item): Failure | undefined {
	const denial = foreignDenial(viewer, item) ?? onwardsDenial(item);
	if (denial) return denial;
	return item.path === '' || isPublic(item)
		? new Failure('invalid', 'Temporary links are for private files')
		: undefined;
}

/** Sharing items of the viewer's private area: their addresses open them for strangers, who can see `Public` anyway. */
export function shareDenial(viewer: Viewer, item: Item): Failure | undefined {
	const denial = foreignDenial(viewer, item) ?? onwardsDenial(item);
	if (denial) return denial;
	if (item.path === '') return new Failure('invalid', 'All of your files together can’t be shared.');
	return isPublic(item) ? new Failure('invalid', 'What is in Public needs no share: everybody can see it.') : undefined;
}

/** Converting a video, which writes beside it and may delete it. */
export function convertDenial(viewer: Viewer, item: Item): Failure | undefined {
	return changeDenial(viewer, item);
}

/** Leaving a folder that is shared with the viewer: the folder itself, not one in it. */
export function leaveDenial(viewer: Viewer, item: Item): Failure | undefined {
	const isFolder = item.area === 'shared' && item.path !== '' && parentPath(item.path) === '';
	return anonymousDenial(viewer) ?? (isFolder ? undefined : new Failure('invalid', 'Only shared folders can be left.'));
}

/** Whether anyone can read the item by a permanent link: it is below a public root. */
export function hasPlainLink(item: Item): boolean {
	return isPublic(item) && !isRootOrProtected(item);
}

/** Members of a folder share nothing onwards. */
function onwardsDenial({ area }: Item): Failure | undefined {
	return area === 'shared' ? notOwner('Only its owner can share this.') : undefined;
}

function isPublic(item: Item): boolean {
	return item.area === 'public' || (item.area === 'private' && isWithin(item.path, parsePath(publicFolderName)));
}

/** The root of a public tree is the protected folder of its home, and a shared folder is changed in the home of its owner only. */
function isRootOrProtected(item: Item): boolean {
	if (item.area === 'shared' && parentPath(item.path) === '') return true;
	return item.path === '' || isProtected(item.area, item.path);
}

/** What a member may do with the files of another one is for the folder to say. */
function isForeign(viewer: Viewer, item: Pick<Item, 'area' | 'owner'>): boolean {
	if (item.area === 'shared') return viewer.kind !== 'user';
	return item.owner !== undefined && (viewer.kind !== 'user' || item.owner !== viewer.username);
}

/** Why a visitor of a server whose visitors may do less than `wanted`, or a guest of a share, is refused. */
function visitorDenial(viewer: Viewer, wanted: 'upload' | 'read'): Failure | undefined {
	if (viewer.kind === 'user') return undefined;
	if (viewer.kind === 'anonymous' && (viewer.access === 'upload' || viewer.access === wanted)) return undefined;
	return anonymousDenial(viewer);
}

function anonymousDenial(viewer: Viewer): Failure | undefined {
	return viewer.kind !== 'user' ? new Failure('notSignedIn', 'You must be logged in to do that.') : undefined;
}

function foreignDenial(viewer: Viewer, item: Pick<Item, 'area' | 'owner'>, message?: string): Failure | undefined {
	return anonymousDenial(viewer) ?? (isForeign(viewer, item) ? notOwner(message) : undefined);
}

/** Why a viewer may not change an item: as above, or because their role is only to view it. */
function changeDenial(viewer: Viewer, item: Item, message?: string): Failure | undefined {
	return foreignDenial(viewer, item, message) ?? viewOnlyDenial(item);
}

/** Putting something into a folder. The list of shared folders is none. */
function putDenial(viewer: Viewer, folder: Item): Failure | undefined {
	const denial = changeDenial(viewer, folder);
	if (denial || folder.area !== 'shared' || folder.path !== '') return denial;
	return new Failure('forbidden', 'The list of shared folders can’t be changed here.');
}

/** The refusal of a change by who may only look. */
export const viewOnlyMessage = 'You may look at this, and not change it.';

function viewOnlyDenial({ area, role }: Item): Failure | undefined {
	return area === 'shared' && role === 'view' ? new Failure('forbidden', viewOnlyMessage) : undefined;
}

function protectedDenial(item: Item, verb: string): Failure | undefined {
	return isRootOrProtected(item) ? new Failure('protected', `Cannot ${verb} protected folders`) : undefined;
}

function notOwner(message = notOwnedMessage): Failure {
	return new Failure('notOwner', message);
}

function notFound(item: Item): Failure {
	const isRoot = item.path === '';
	return new Failure('notFound', isRoot ? 'There is no such file or folder.' : `No such file or folder: ${item.path}`);
}
