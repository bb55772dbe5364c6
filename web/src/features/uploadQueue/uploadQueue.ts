import { measureSpeed, rootPath, type SpeedMeter, type StoragePath } from '@stowage/rules';
import type { UploadWait } from '../../api/uploads/upload.js';
import type { ChosenFile } from './choosing/chosenFiles.js';
import {
	areaOf,
	fieldsOf,
	type IfExists,
	indexOfItem,
	isOver,
	isWaiting,
	mayUploadAs,
	movedTo,
	newItem,
	type QueueItem,
	type UploadTarget,
} from './queueItem.js';

/** An empty folder that the next run creates. */
export interface QueueFolder {
	id: number;
	target: UploadTarget;
	folder: StoragePath;
	isPublic: boolean;
	/** The user who has queued it; undefined for a visitor. */
	username: string | undefined;
}

/** The progress of the file that is being uploaded. */
export interface UploadProgress {
	id: number;
	uploadedSize: number;
	meter: SpeedMeter;
	/** The reason why it waits before it continues by itself. */
	wait?: UploadWait | undefined;
}

export interface UploadQueueState {
	items: readonly QueueItem[];
	folders: readonly QueueFolder[];
	nextId: number;
	/** The files of the current run; those that are added later wait for the next one. Undefined while nothing runs. */
	run: ReadonlySet<number> | undefined;
	progress: UploadProgress | undefined;
	/** Why the last upload failed; shown as an alert until the next run. */
	failure: string | undefined;
	/** All files of the last run are uploaded, or skipped as was chosen; true while that is shown. */
	hasSucceeded: boolean;
	/** The browser page shows the queue as soon as it has a file. */
	isDialogOpen: boolean;
}

export const emptyQueue: UploadQueueState = {
	items: [],
	folders: [],
	nextId: 1,
	run: undefined,
	progress: undefined,
	failure: undefined,
	hasSucceeded: false,
	isDialogOpen: false,
};

/** What a user does to what is waiting: to their own files only. */
export type UserAction =
	| { type: 'renamed'; id: number; name: string }
	| { type: 'nameRestored'; id: number }
	| { type: 'visibilityChanged'; id: number; isPublic: boolean }
	| { type: 'allVisibilityChanged'; isPublic: boolean }
	| { type: 'ifExistsChanged'; id: number; ifExists: IfExists }
	| { type: 'allIfExistsChanged'; ifExists: IfExists }
	| { type: 'removed'; id: number }
	/** A run is ended, and all are removed. */
	| { type: 'cancelled' }
	/** Those of other users are removed, which was asked for. */
	| { type: 'othersRemoved' }
	| { type: 'signedOut' };

export type UploadQueueAction =
	/** With who is signed in, or has just been. */
	| (UserAction & { username: string | undefined })
	| {
			type: 'added';
			files: readonly ChosenFile[];
			emptyFolders?: readonly StoragePath[];
			target: UploadTarget;
			isPublic: boolean;
			/** Undefined for a visitor. */
			username: string | undefined;
	  }
	| { type: 'runStarted'; ids: readonly number[] }
	| { type: 'itemStarted'; id: number; at: number }
	| { type: 'progressed'; id: number; uploadedSize: number; at: number }
	| { type: 'itemResumed'; id: number; uploadedSize: number; at: number }
	| { type: 'itemWaits'; id: number; reason: UploadWait | undefined }
	| { type: 'itemCompleted'; id: number; savedName: string; isVerified: boolean }
	| { type: 'itemSkipped'; id: number }
	| { type: 'itemFailed'; id: number; error: string; detail?: string | undefined }
	| { type: 'folderMade'; id: number }
	| { type: 'folderFailed'; error: string }
	| { type: 'runEnded' }
	| { type: 'completedCleared' }
	| { type: 'signedIn'; username: string }
	/** Who is signed in is known, also from another page. */
	| { type: 'userFound'; username: string }
	| { type: 'dialogOpened' }
	| { type: 'dialogClosed' };

export function uploadQueueReducer(state: UploadQueueState, action: UploadQueueAction): UploadQueueState {
	switch (action.type) {
		case 'added': {
			const { files, emptyFolders = [], target, isPublic, username } = action;
			const added = files.map((file, index) => newItem(state.nextId + index, file, action));
			const nextId = state.nextId + files.length;
			const folders = emptyFolders.map((folder, index) => ({ id: nextId + index, folder, target, isPublic, username }));
			return {
				...state,
				items: [...state.items, ...added],
				folders: [...state.folders, ...folders],
				nextId: nextId + folders.length,
			};
		}
		case 'renamed':
			return changeItem(state, action, (item) => movedTo(item, { name: action.name }));
		case 'nameRestored':
			return changeItem(state, action, (item) => movedTo(item, { name: item.originalName }));
		case 'visibilityChanged':
			return changeItem(state, action, (item) => movedTo(item, { isPublic: action.isPublic }));
		case 'allVisibilityChanged':
			return setVisibility(state, action.username, action.isPublic);
		case 'ifExistsChanged':
			return changeItem(state, action, (item) => ({ ...item, ifExists: action.ifExists }));
		case 'allIfExistsChanged':
			return state.run ? state : changeOwn(state, action.username, (item) => ({ ...item, ifExists: action.ifExists }));
		case 'removed':
			if (state.run) return state;
			return keep(state, (item) => item.id !== action.id || !mayUploadAs(action.username, item));
		case 'cancelled': {
			const ended = { ...backToPending(state), run: undefined, failure: undefined, hasSucceeded: false };
			const isOthers = (item: QueueItem | QueueFolder) => !mayUploadAs(action.username, item);
			return keep(ended, (item) => isOthers(item) && !isOver(item), isOthers);
		}
		case 'othersRemoved': {
			const isOwn = (item: QueueItem | QueueFolder) => mayUploadAs(action.username, item);
			return state.run ? state : keep(state, isOwn, isOwn);
		}
		case 'runStarted': {
			const run = new Set(action.ids);
			const items = state.items.map((item) =>
				run.has(item.id) && item.status === 'error' ? { ...fieldsOf(item), status: 'pending' as const } : item,
			);
			return { ...state, items, run, failure: undefined, hasSucceeded: false };
		}
		case 'itemStarted':
			return {
				...replaceItem(state, action.id, (item) => ({ ...fieldsOf(item), status: 'uploading' })),
				progress: { id: action.id, uploadedSize: 0, meter: measureSpeed(undefined, action.at, 0) },
			};
		case 'progressed': {
			const { progress } = state;
			if (progress?.id !== action.id) return state;
			return {
				...state,
				progress: {
					...progress,
					uploadedSize: action.uploadedSize,
					meter: measureSpeed(progress.meter, action.at, action.uploadedSize),
				},
			};
		}
		case 'itemResumed': {
			const { progress } = state;
			if (progress?.id !== action.id) return state;
			const { uploadedSize } = action;
			// Measured from here: bytes of an earlier attempt say nothing about the speed.
			return {
				...state,
				progress: { ...progress, uploadedSize, meter: measureSpeed(undefined, action.at, uploadedSize) },
			};
		}
		case 'itemWaits': {
			const { progress } = state;
			return progress?.id === action.id ? { ...state, progress: { ...progress, wait: action.reason } } : state;
		}
		case 'itemCompleted':
			return {
				...replaceItem(state, action.id, (item) => ({
					...fieldsOf(item),
					status: 'completed',
					savedName: action.savedName,
					isVerified: action.isVerified,
				})),
				progress: undefined,
			};
		case 'itemSkipped':
			return {
				...replaceItem(state, action.id, (item) => ({ ...fieldsOf(item), status: 'skipped' })),
				progress: undefined,
			};
		case 'itemFailed':
			return {
				...replaceItem(state, action.id, (item) => ({
					...fieldsOf(item),
					status: 'error',
					error: action.error,
					detail: action.detail,
				})),
				progress: undefined,
				failure: action.error,
			};
		case 'folderMade':
			return { ...state, folders: state.folders.filter(({ id }) => id !== action.id) };
		case 'folderFailed':
			return { ...state, failure: action.error };
		case 'runEnded': {
			const { run } = state;
			if (!run) return state;
			const hasSucceeded =
				state.failure === undefined && state.items.every((item) => !run.has(item.id) || isOver(item));
			return { ...backToPending(state), run: undefined, hasSucceeded };
		}
		case 'completedCleared': {
			return keep({ ...state, hasSucceeded: false }, (item) => !isOver(item));
		}
		case 'signedIn':
			// After a session that expired during an upload the user's own files keep their visibility.
			return signIn(state, action.username, state.progress?.wait === 'signIn' ? isOfVisitor : () => true);
		case 'userFound':
			return signIn(state, action.username, isOfVisitor);
		case 'signedOut':
			// A visitor may only write to the root of the public area.
			return {
				...changeOwn(state, action.username, (item) => ({
					...item,
					isPublic: true,
					username: undefined,
					target: { area: 'public', directory: rootPath },
					folder: rootPath,
					ifExists: 'rename',
				})),
				folders: state.folders.filter((folder) => !mayUploadAs(action.username, folder)),
			};
		case 'dialogOpened':
			return { ...state, isDialogOpen: true };
		case 'dialogClosed':
			return { ...state, isDialogOpen: false };
	}
}

function replaceItem(state: UploadQueueState, id: number, change: (item: QueueItem) => QueueItem): UploadQueueState {
	const index = indexOfItem(state.items, id);
	const item = state.items[index];
	return item ? { ...state, items: state.items.with(index, change(item)) } : state;
}

/** A change by the user of one of their own files, ignored while an upload runs. */
function changeItem(
	state: UploadQueueState,
	{ id, username }: { id: number; username: string | undefined },
	change: (item: QueueItem) => QueueItem,
): UploadQueueState {
	return state.run ? state : changeOwn(state, username, change, id);
}

/**
 * The only way in which what waits is changed: that of this user, or with undefined of nobody, and never of another one.
 * All of it, or one file.
 */
function changeOwn(
	state: UploadQueueState,
	username: string | undefined,
	change: (item: QueueItem) => QueueItem,
	id?: number,
): UploadQueueState {
	const changed = (item: QueueItem) => (isWaiting(item) && mayUploadAs(username, item) ? change(item) : item);
	return id === undefined ? { ...state, items: state.items.map(changed) } : replaceItem(state, id, changed);
}

/** Ids are never reused, so a late response to an aborted upload of what was removed changes nothing. */
function keep(
	state: UploadQueueState,
	isItemKept: (item: QueueItem) => boolean,
	isFolderKept: (folder: QueueFolder) => boolean = () => true,
): UploadQueueState {
	const items = state.items.filter(isItemKept);
	if (items.length === 0) return { ...emptyQueue, nextId: state.nextId };
	return { ...state, items, folders: state.folders.filter(isFolderKept) };
}

function setVisibility(state: UploadQueueState, username: string | undefined, isPublic: boolean): UploadQueueState {
	const folders = state.folders.map((folder) => (mayUploadAs(username, folder) ? { ...folder, isPublic } : folder));
	return {
		...changeOwn(state, username, (item) =>
			item.isPublic === isPublic || areaOf(item) === 'shared' ? item : movedTo(item, { isPublic }),
		),
		folders,
	};
}

const isOfVisitor = (item: Pick<QueueItem, 'username'>) => item.username === undefined;

/** A visitor's files become the user's, and what `isChosen` chooses of both private. Those of another user wait for that one. */
function signIn(
	state: UploadQueueState,
	username: string,
	isChosen: (item: Pick<QueueItem, 'username'>) => boolean,
): UploadQueueState {
	if (![...state.items, ...state.folders].some(isChosen)) return state;
	const folders = state.folders.map((folder) =>
		mayUploadAs(username, folder) && isChosen(folder) ? { ...folder, isPublic: false, username } : folder,
	);
	const changed = changeOwn(state, username, (item) => {
		if (!isChosen(item)) return item;
		const isKept = !item.isPublic || areaOf(item) === 'shared';
		return { ...(isKept ? item : movedTo(item, { isPublic: false })), username };
	});
	return { ...changed, folders };
}

function backToPending(state: UploadQueueState): UploadQueueState {
	const { progress } = state;
	if (!progress) return state;
	return {
		...replaceItem(state, progress.id, (item) =>
			item.status === 'uploading' ? { ...fieldsOf(item), status: 'pending' } : item,
		),
		progress: undefined,
	};
}
