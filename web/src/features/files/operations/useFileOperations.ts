import { createFile, createFolder, deleteItem, moveItem, renameItem } from '@stowage/contract';
import {
	type Area,
	type Clipboard,
	type ClipboardItem,
	type Entry,
	isFailure,
	type MoveDirection,
	type MoveStep,
	moveToOtherArea,
	type PastePlan,
	parentPath,
	parsePath,
	pasteResult,
	planPaste,
	type StoragePath,
	type Viewer,
} from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../../../api/client/client.js';
import { queryKeys } from '../../../api/queryKeys.js';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import type { ListingPatch } from '../folder/listingPatch.js';
import { filesMessages as messages, nameItems } from '../messages.js';
import { type Deletion, undoCopies, undoDeletion, undoMoves, undoRename } from '../undo/reversals.js';
import type { Undoing, UndoOffer } from '../undo/useUndo.js';
import { type Outcome, reasonOf } from './runEach.js';
import type { Transferred } from './transferOutcome.js';
import { useBatch } from './useBatch.js';
import { moveCall, type TransferPlan, useTransfer } from './useTransfer.js';

export interface OperationContext {
	viewer: Viewer;
	area: Area;
	directory: StoragePath;
	/** Shows a confirmed change before the folder is fetched again. */
	patch: (patch: ListingPatch) => void;
	/** Selects an entry and scrolls to it. */
	show: (entry: Entry) => void;
	/** Remembers what can be undone. */
	remember: Undoing['remember'];
	/** Whether copies can be put into a trash. */
	hasTrash: boolean;
}

/** Where deleted entries go. A server without a trash removes them forever. */
export type Removal = 'trash' | 'forever';

export interface FileOperations {
	/** Creates a folder and shows it. Resolves to whether that succeeded. */
	create: (what: 'file' | 'folder', name: string) => Promise<boolean>;
	rename: (entry: Entry, newName: string) => Promise<boolean>;
	remove: (entries: readonly Entry[], to: Removal) => Promise<void>;
	/** 'Move to Public' and 'Move back to Private'. */
	moveToOtherArea: (direction: MoveDirection, entries: readonly Entry[]) => Promise<void>;
	/** Pastes into a folder. Resolves to the rest of the clipboard. */
	paste: (clipboard: Clipboard, target: StoragePath) => Promise<Clipboard | undefined>;
	/** Moves the dragged entries into a folder. */
	dropInto: (dragged: Clipboard, target: StoragePath) => Promise<void>;
}

/** The operations on files: their calls, their effect on the list, and their notices. */
export function useFileOperations(context: OperationContext): FileOperations {
	const { viewer, area, directory, patch, show, remember, hasTrash } = context;
	const queryClient = useQueryClient();
	const { notify } = useNotify();
	const runBatch = useBatch();
	const runTransfer = useTransfer();

	return useMemo(() => {
		const fail = (message: string, reason: unknown, offer: UndoOffer = {}) =>
			notify({ intent: 'danger', message, ...detail(reason), ...offer });
		const succeed = (message: string, offer: UndoOffer = {}) => notify({ intent: 'success', message, ...offer });
		// In both areas: a move to public changes both of them, and the counts of the folders above.
		const refetch = () => {
			void queryClient.invalidateQueries({ queryKey: queryKeys.trash.all });
			return queryClient.invalidateQueries({ queryKey: queryKeys.listings.all });
		};

		/** One call that changes one entry and responds with it. */
		const change = async (title: string, failure: string, send: () => Promise<{ entry: Entry }>, removed: Entry[]) => {
			let entry: Entry | undefined;
			const outcome = await runBatch(title, [undefined], async () => {
				({ entry } = await send());
			});
			if (entry) patch({ removed, added: [entry] });
			else fail(failure, outcome.reason);
			// Also after a failure, which often means that the folder has changed.
			void refetch();
			return entry;
		};

		const transfer = (
			plan: Exclude<PastePlan, { kind: 'refused' }>,
			{ sourceArea: from }: Clipboard,
			target: StoragePath,
			title: string,
		) => runTransfer(title, { ...plan, from, to: area, directory: target });

		const offerFor = ({ done, placed }: Transferred<MoveStep>, isMove: boolean): UndoOffer => {
			if (done.length === 0) return {};
			return remember(isMove ? undoMoves(placed) : undoCopies(placed, hasTrash));
		};

		/** Items of several folders, such as those of a search, are moved one by one. */
		const moveToArea = async (title: string, direction: MoveDirection, entries: readonly Entry[]) => {
			const steps = entries.map((entry) => ({ ...moveToOtherArea(direction, entry), entry }));
			const [folder, ...others] = new Set(entries.map(({ path }) => parentPath(parsePath(path))));
			if (folder === undefined || others.length > 0) {
				const placed: (typeof steps)[number][] = [];
				const outcome = await runBatch(title, steps, async (step, signal) => {
					const { entry } = await call(moveItem, { payload: moveCall([step]), signal });
					placed.push({ ...step, toPath: parsePath(entry.path) });
				});
				return { ...outcome, placed };
			}
			const to = direction === 'toPublic' ? 'public' : 'private';
			const from = direction === 'toPublic' ? 'private' : 'public';
			const plan = { kind: 'move', from, to, directory: folder, steps } satisfies TransferPlan;
			return runTransfer(title, plan);
		};

		const cancelled = (message: string, reason: unknown, offer: UndoOffer = {}) =>
			void notify({ message, ...detail(reason), ...offer });

		return {
			create: async (what, name) => {
				const place = { directory, type: area };
				const send = () =>
					what === 'file'
						? call(createFile, { payload: { ...place, fileName: name } })
						: call(createFolder, { payload: { ...place, folderName: name } });
				const { title, failed } = messages.createDialog[what];
				const entry = await change(title, failed, send, []);
				if (!entry) return false;
				succeed(messages.created(entry.name));
				show(entry);
				return true;
			},

			rename: async (entry, newName) => {
				const payload = withOwner({ oldPath: entry.path, newName, type: area }, entry);
				const send = () => call(renameItem, { payload });
				const renamed = await change(messages.rename, messages.renameFailed, send, [entry]);
				if (!renamed) return false;
				succeed(messages.renamed(renamed.name), remember(undoRename(area, entry, renamed)));
				show(renamed);
				return true;
			},

			remove: async (entries, to) => {
				const permanent = to === 'forever' ? { permanent: true } : {};
				const deleted: Deletion[] = [];
				const outcome = await runBatch(messages.deleting(nameItems(entries)), entries, async (entry, signal) => {
					const payload = withOwner({ filePath: entry.path, type: area, ...permanent }, entry);
					const { trashId } = await call(deleteItem, { payload, signal });
					deleted.push({ entry, trashId });
				});
				patch({ removed: outcome.done });
				void refetch();
				const { done, failed, reason } = outcome;
				const offer = done.length > 0 ? remember(undoDeletion(deleted)) : {};
				const sentence = to === 'forever' ? messages.deletedForever : messages.deleted;
				if (failed.length === 0) return void (done.length > 0 && succeed(sentence(nameItems(done)), offer));
				if (done.length === 0) return void fail(messages.deletedNone, reason);
				const partly = messages.deletedSome(nameItems(done), failed.length, reasonOf(reason));
				fail(messages.deleteFailed, partly, offer);
			},

			moveToOtherArea: async (direction, entries) => {
				const isPublic = direction === 'toPublic';
				const outcome = await moveToArea(messages.moving(nameItems(entries)), direction, entries);
				const moved = outcome.done.map(({ entry }) => entry);
				patch({ removed: moved });
				void refetch();
				const offer = moved.length > 0 ? remember(undoMoves(outcome.placed)) : {};
				if (outcome.failed.length > 0) {
					const sentence = isPublic ? messages.moveToPublicFailed : messages.moveToPrivateFailed;
					return void fail(sentence, outcome.reason, offer);
				}
				if (outcome.isCancelled) return cancelled(messages.moveCancelled, outcome.reason, offer);
				if (moved.length === 0) return;
				const items = nameItems(moved);
				succeed(isPublic ? messages.movedToPublic(items) : messages.movedToPrivate(items), offer);
			},

			paste: async (clipboard, target) => {
				let plan: PastePlan;
				try {
					plan = planPaste(clipboard, viewer, area, target);
				} catch (error) {
					// Such as a path that would be too long.
					fail(messages.pasteError, error);
					return clipboard;
				}
				if (plan.kind === 'refused') {
					fail(messages.pasteFailed, plan.refusal);
					return clipboard;
				}
				const outcome = await transfer(plan, clipboard, target, messages.pasting(nameItems(clipboard.items)));
				void refetch();
				const left = clipboard.operation === 'copy' ? clipboard : without(clipboard, outcome);
				const failed = outcome.failed.length + plan.skipped.length;
				const reason = outcome.reason ?? plan.skipped[0]?.refusal;
				const isMove = clipboard.operation === 'cut';
				const offer = offerFor(outcome, isMove);
				if (outcome.isCancelled) cancelled(messages.pasteCancelled, outcome.reason, offer);
				else if (failed === 0) succeed(messages.pasted(nameItems(clipboard.items)), offer);
				else if (outcome.done.length === 0)
					fail(isRefusal(reason) ? messages.pasteFailed : messages.pasteError, reason);
				else fail(pasteResult(outcome.done.length, failed), reason, offer);
				return left;
			},

			dropInto: async (dragged, target) => {
				const plan = planPaste(dragged, viewer, area, target);
				if (plan.kind === 'refused') return void fail(messages.moveFailed, plan.refusal);
				const outcome = await transfer(plan, dragged, target, messages.moving(nameItems(dragged.items)));
				void refetch();
				const offer = offerFor(outcome, true);
				if (outcome.isCancelled) return cancelled(messages.moveCancelled, outcome.reason, offer);
				if (outcome.reason !== undefined) return void fail(messages.moveFailed, outcome.reason, offer);
				if (outcome.done.length > 0) succeed(messages.moved(nameItems(outcome.done.map(({ item }) => item))), offer);
			},
		};
	}, [viewer, area, directory, patch, show, remember, hasTrash, queryClient, notify, runBatch, runTransfer]);
}

/** Whether the server refused the request. Anything else is an error of the server, the connection or the page. */
function isRefusal(reason: unknown): boolean {
	return isFailure(reason) && reason.status < 500;
}

function detail(reason: unknown): { detail?: string } {
	const text = typeof reason === 'string' ? reason : reasonOf(reason);
	return text === undefined ? {} : { detail: text };
}

/** A public item names its owner; a private one has none. */
function withOwner<P extends object>(payload: P, { owner }: Pick<Entry, 'owner'>): P & { owner?: string | null } {
	return { ...payload, ...ownerPart(owner) };
}

function ownerPart(owner: Entry['owner']): { owner?: string | null } {
	return owner === undefined ? {} : { owner };
}

/** Cut items that were not moved stay on the clipboard. */
function without(clipboard: Clipboard, { done }: Outcome<{ item: ClipboardItem }>): Clipboard | undefined {
	const moved = new Set(done.map(({ item }) => item));
	const items = clipboard.items.filter((item) => !moved.has(item));
	return items.length === 0 ? undefined : { ...clipboard, items };
}
