import {
	type Area,
	bytesPerSecond,
	isValidName,
	joinPath,
	measureSpeed,
	remainingSeconds,
	rootPath,
	type SpeedMeter,
	type StoragePath,
	splitName,
	trimName,
} from '@stowage/rules';
import type { UploadWait } from '../../api/uploads/upload.js';
import type { ChosenFile } from './choosing/chosenFiles.js';

/** Where added files go: the folder on screen, in the area on screen. */
export interface UploadTarget {
	area: Area;
	directory: StoragePath;
}

/** What happens where the name is taken: the file gets another name, replaces the file that has it, or is not uploaded. */
export type IfExists = 'rename' | 'replace' | 'skip';

interface QueueItemFields {
	id: number;
	file: File;
	/** Without the extension; the user may edit it. */
	name: string;
	originalName: string;
	/** With its dot; `''` for none. */
	extension: string;
	size: number;
	isPublic: boolean;
	/** Added by a signed-in user. Without a session it waits, since the server would take it for a visitor's. */
	needsAccount: boolean;
	target: UploadTarget;
	/** Below the target; created before the file is uploaded. */
	folder: StoragePath;
	/** Chosen for its name and place; with another one it is `rename` again. */
	ifExists: IfExists;
}

/** An empty folder that the next run creates. */
export interface QueueFolder {
	id: number;
	target: UploadTarget;
	folder: StoragePath;
	isPublic: boolean;
}

export type QueueItem = QueueItemFields &
	(
		| { status: 'pending' | 'uploading' }
		| { status: 'completed'; savedName: string; isVerified: boolean }
		/** Its name is taken. */
		| { status: 'skipped' }
		| { status: 'error'; error: string; detail?: string | undefined }
	);

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

export type UploadQueueAction =
	| {
			type: 'added';
			files: readonly ChosenFile[];
			emptyFolders?: readonly StoragePath[];
			target: UploadTarget;
			isPublic: boolean;
			isVisitor?: boolean;
	  }
	| { type: 'renamed'; id: number; name: string }
	| { type: 'nameRestored'; id: number }
	| { type: 'visibilityChanged'; id: number; isPublic: boolean }
	| { type: 'allVisibilityChanged'; isPublic: boolean }
	| { type: 'ifExistsChanged'; id: number; ifExists: IfExists }
	| { type: 'allIfExistsChanged'; ifExists: IfExists }
	| { type: 'removed'; id: number }
	| { type: 'emptied' }
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
	| { type: 'signedIn' }
	| { type: 'signedOut' }
	| { type: 'dialogOpened' }
	| { type: 'dialogClosed' };

export function uploadQueueReducer(state: UploadQueueState, action: UploadQueueAction): UploadQueueState {
	switch (action.type) {
		case 'added': {
			const { files, emptyFolders = [], target, isPublic } = action;
			const added = files.map((file, index) => newItem(state.nextId + index, file, action));
			const nextId = state.nextId + files.length;
			const folders = emptyFolders.map((folder, index) => ({ id: nextId + index, folder, target, isPublic }));
			return {
				...state,
				items: [...state.items, ...added],
				folders: [...state.folders, ...folders],
				nextId: nextId + folders.length,
			};
		}
		case 'renamed':
			return changeItem(state, action.id, (item) => movedTo(item, { name: action.name }));
		case 'nameRestored':
			return changeItem(state, action.id, (item) => movedTo(item, { name: item.originalName }));
		case 'visibilityChanged':
			return changeItem(state, action.id, (item) => movedTo(item, { isPublic: action.isPublic }));
		case 'allVisibilityChanged':
			return setVisibility(state, action.isPublic);
		case 'ifExistsChanged':
			return changeItem(state, action.id, (item) => ({ ...item, ifExists: action.ifExists }));
		case 'allIfExistsChanged':
			return state.run ? state : changeWaiting(state, (item) => ({ ...item, ifExists: action.ifExists }));
		case 'removed': {
			if (state.run) return state;
			const items = state.items.filter(({ id }) => id !== action.id);
			return items.length === 0 ? { ...emptyQueue, nextId: state.nextId } : { ...state, items };
		}
		case 'emptied':
			// Ids are never reused, so a late response to an aborted upload changes nothing.
			return { ...emptyQueue, nextId: state.nextId };
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
			const items = state.items.filter((item) => !isOver(item));
			return items.length === 0 ? { ...emptyQueue, nextId: state.nextId } : { ...state, items, hasSucceeded: false };
		}
		case 'signedIn':
			// After a session that expired during an upload the files keep their visibility.
			if (state.progress?.wait === 'signIn') return state;
			return changeWaiting(setVisibility(state, false), (item) => ({ ...item, needsAccount: true }));
		case 'signedOut':
			// A visitor may only write to the root of the public area.
			return {
				...changeWaiting(state, (item) => ({
					...item,
					isPublic: true,
					needsAccount: false,
					target: { area: 'public', directory: rootPath },
					folder: rootPath,
					ifExists: 'rename',
				})),
				folders: [],
			};
		case 'dialogOpened':
			return { ...state, isDialogOpen: true };
		case 'dialogClosed':
			return { ...state, isDialogOpen: false };
	}
}

function newItem(
	id: number,
	{ file, folder }: ChosenFile,
	{ target, isPublic, isVisitor = false }: { target: UploadTarget; isPublic: boolean; isVisitor?: boolean },
): QueueItem {
	const { base, extension } = splitName(file.name);
	return {
		id,
		file,
		name: base,
		originalName: base,
		extension,
		size: file.size,
		isPublic,
		needsAccount: !isVisitor,
		target,
		folder,
		ifExists: 'rename',
		status: 'pending',
	};
}

function fieldsOf(item: QueueItem): QueueItemFields {
	const { id, file, name, originalName, extension, size, isPublic, needsAccount, target, folder, ifExists } = item;
	return { id, file, name, originalName, extension, size, isPublic, needsAccount, target, folder, ifExists };
}

/** With another name or place, for which nothing was chosen yet. */
function movedTo(item: QueueItem, change: { name: string } | { isPublic: boolean }): QueueItem {
	return { ...item, ...change, ifExists: 'rename' };
}

function replaceItem(state: UploadQueueState, id: number, change: (item: QueueItem) => QueueItem): UploadQueueState {
	const index = indexOfItem(state.items, id);
	const item = state.items[index];
	return item ? { ...state, items: state.items.with(index, change(item)) } : state;
}

export function findItem(items: readonly QueueItem[], id: number): QueueItem | undefined {
	return items[indexOfItem(items, id)];
}

/** -1 if it is not among them. Items are in the order of their ids, and thousands of them are looked up many times. */
function indexOfItem(items: readonly QueueItem[], id: number): number {
	let from = 0;
	let to = items.length;
	while (from < to) {
		const middle = (from + to) >> 1;
		if ((items[middle] as QueueItem).id < id) from = middle + 1;
		else to = middle;
	}
	return items[from]?.id === id ? from : -1;
}

/** A change by the user, ignored while an upload runs. */
function changeItem(state: UploadQueueState, id: number, change: (item: QueueItem) => QueueItem): UploadQueueState {
	return state.run ? state : replaceItem(state, id, (item) => (isWaiting(item) ? change(item) : item));
}

function changeWaiting(state: UploadQueueState, change: (item: QueueItem) => QueueItem): UploadQueueState {
	return { ...state, items: state.items.map((item) => (isWaiting(item) ? change(item) : item)) };
}

function setVisibility(state: UploadQueueState, isPublic: boolean): UploadQueueState {
	const folders = state.folders.map((folder) => ({ ...folder, isPublic }));
	return {
		...changeWaiting(state, (item) =>
			item.isPublic === isPublic || areaOf(item) === 'shared' ? item : movedTo(item, { isPublic }),
		),
		folders,
	};
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

/** Neither uploaded nor being uploaded. */
export function isWaiting({ status }: QueueItem): boolean {
	return status === 'pending' || status === 'error';
}

/** Uploaded, or skipped as was chosen. */
export function isOver({ status }: QueueItem): boolean {
	return status === 'completed' || status === 'skipped';
}

/** The name under which it is uploaded. */
export function fullName({ name, extension }: QueueItem): string {
	return trimName(trimName(name) + extension);
}

type Destination = Pick<QueueItem, 'target' | 'isPublic' | 'folder'>;

/** The folder into which it is uploaded. */
export function directoryOf(item: Destination): StoragePath {
	return item.folder === rootPath ? baseOf(item) : joinPath(baseOf(item), item.folder);
}

/** The part of that folder which exists: the target, or the root of the other area, which may have no such folder. */
export function baseOf(item: Destination): StoragePath {
	return item.target.area === areaOf(item) ? item.target.directory : rootPath;
}

/** The area into which it is uploaded: that of its visibility, unless it is for a shared folder. */
export function areaOf({ target, isPublic }: Pick<Destination, 'target' | 'isPublic'>): Area {
	if (target.area === 'shared') return 'shared';
	return isPublic ? 'public' : 'private';
}

/** Cached by item, since a queue may have ten thousand and items are never mutated. */
const nameValidity = new WeakMap<QueueItem, boolean>();

export function hasValidName(item: QueueItem): boolean {
	let isValid = nameValidity.get(item);
	if (isValid === undefined) {
		// The extension alone would pass as a name, and spaces before it would be trimmed away by `fullName` only.
		isValid = trimName(item.name) !== '' && isValidName(item.name + item.extension) && isValidName(fullName(item));
		nameValidity.set(item, isValid);
	}
	return isValid;
}

export type QueueVisibility = 'private' | 'public' | 'mixed';

export interface QueueSummary {
	/** Undefined if nothing can be set: all are for shared folders. */
	visibility: QueueVisibility | undefined;
	hasInvalidName: boolean;
	/** The files that `Upload All` would upload. */
	waiting: readonly number[];
	/** Some of them wait while no user is signed in. */
	needsAccount: boolean;
	completed: number;
	skipped: number;
}

/** Summarizes the queue. It visits every item, so it is computed once for each change of `items`. */
export function summarize(items: readonly QueueItem[]): QueueSummary {
	const waiting: number[] = [];
	let publicCount = 0;
	let privateCount = 0;
	let hasInvalidName = false;
	let needsAccount = false;
	let completed = 0;
	let skipped = 0;
	for (const item of items) {
		const area = areaOf(item);
		if (area === 'public') publicCount++;
		if (area === 'private') privateCount++;
		if (item.status === 'completed') completed++;
		if (item.status === 'skipped') skipped++;
		if (!isWaiting(item)) continue;
		if (item.needsAccount) needsAccount = true;
		waiting.push(item.id);
		if (!hasValidName(item)) hasInvalidName = true;
	}
	return {
		visibility: visibilityOf(privateCount, publicCount),
		hasInvalidName,
		waiting,
		needsAccount,
		completed,
		skipped,
	};
}

function visibilityOf(privateCount: number, publicCount: number): QueueVisibility | undefined {
	if (privateCount > 0) return publicCount > 0 ? 'mixed' : 'private';
	return publicCount > 0 ? 'public' : undefined;
}

/** Aggregate progress of a run. */
export interface RunProgress {
	completed: number;
	total: number;
	uploadedSize: number;
	totalSize: number;
}

/** Progress of a run without the file that is being uploaded and those that are skipped. */
export function runProgress({ items, run }: Pick<UploadQueueState, 'items' | 'run'>): RunProgress {
	const progress: RunProgress = { completed: 0, total: 0, uploadedSize: 0, totalSize: 0 };
	for (const item of items) {
		if ((run && !run.has(item.id)) || item.status === 'skipped') continue;
		progress.total++;
		progress.totalSize += item.size;
		if (item.status === 'completed') {
			progress.completed++;
			progress.uploadedSize += item.size;
		}
	}
	return progress;
}

/** How much of `size` is done, 0 to 1. An empty file is done only when the server has responded. */
export function fraction(done: number, size: number): number {
	return size > 0 ? Math.min(1, done / size) : 0;
}

/** All bytes are sent and the server has not responded yet. */
export function isFinalizing(item: QueueItem, progress: UploadProgress | undefined): boolean {
	if (item.status !== 'uploading' || progress?.id !== item.id || progress.wait) return false;
	return progress.uploadedSize >= item.size;
}

/** Speed in bytes per second and seconds left, each undefined while unknown. */
export function measuredPace(item: QueueItem, { meter, uploadedSize }: UploadProgress) {
	const speed = bytesPerSecond(meter);
	return { speed, secondsLeft: remainingSeconds(item.size - uploadedSize, speed) };
}

export function mayStart({ waiting, hasInvalidName }: QueueSummary, isRunning: boolean): boolean {
	return waiting.length > 0 && !hasInvalidName && !isRunning;
}
