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
	plural,
	type StoragePath,
	type Viewer,
} from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../../../api/client/client.js';
import type { TakenNames } from '../../../api/listings/takenNames.js';
import { queryKeys } from '../../../api/queryKeys.js';
import { fetchVersions, restoreVersion, type Version } from '../../../api/versions.js';
import type { Notice } from '../../../ui/notifications/notifications.js';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import type { ListingPatch } from '../folder/listingPatch.js';
import { useTargetNames } from '../folder/useTargetNames.js';
import { folderName } from '../location/folderTitle.js';
import { filesMessages as messages, nameItems } from '../messages.js';
import {
	type Deletion,
	type Kept,
	undoCopies,
	undoDeletion,
	undoMoves,
	undoRename,
	undoRestoredVersion,
} from '../undo/reversals.js';
import type { Undoing, UndoOffer } from '../undo/useUndo.js';
import { versionTime } from '../versions/versionTime.js';
import { type Outcome, reasonOf } from './runEach.js';
import { type Replacing, type ResolvedSteps, resolveSteps, takenSteps } from './taken.js';
import type { Transferred } from './transferOutcome.js';
import { useBatch } from './useBatch.js';
import type { Ask } from './useQuestions.js';
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
	/** Whether there is a trash, and versions. */
	kept: Kept;
	/** Asks what happens to items whose names are taken. */
	ask: Ask;
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
	/** Makes one of these versions the content of a file again. Resolves to whether that succeeded. */
	restoreVersion: (entry: Entry, version: Version, known: readonly Version[]) => Promise<boolean>;
	/** Moves the dragged entries into a folder. */
	dropInto: (dragged: Clipboard, target: StoragePath) => Promise<void>;
}

/** The operations on files: their calls, their effect on the list, and their notices. */
export function useFileOperations(context: OperationContext): FileOperations {
	const { viewer, area, directory, patch, show, remember, kept, ask } = context;
	const queryClient = useQueryClient();
	const { notify } = useNotify();
	const runBatch = useBatch();
	const runTransfer = useTransfer();
	const namesIn = useTargetNames(viewer);

	return useMemo(() => {
		const fail = (message: string, reason: unknown, offer: UndoOffer = {}) =>
			notify({ intent: 'danger', message, ...detail(reason), ...offer });
		const succeed = (message: string, offer: UndoOffer & Pick<Notice, 'detail'> = {}) =>
			notify({ intent: 'success', message, ...offer });
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

		type Plan = Exclude<PastePlan, { kind: 'refused' }>;

		const transfer = (plan: Plan, { sourceArea: from }: Clipboard, target: StoragePath, title: string) =>
			runTransfer(title, { ...plan, from, to: area, directory: target });

		/**
		 * The steps into one folder without those that are skipped, after all questions about names that are taken.
		 * Undefined if it is given up.
		 */
		const settleSteps = async <S extends MoveStep>(steps: readonly S[], from: Area, to: Area, target: StoragePath) => {
			let names: TakenNames = new Map();
			const { isCancelled } = await runBatch(messages.comparing(folderName(to, target)), [target], async (folder) => {
				names = await namesIn(to, folder);
			});
			// Without the listing the server decides: whatever has its name taken gets another one.
			const questions = isCancelled ? undefined : await ask(takenSteps(steps, from, to, names), to, target);
			return questions && resolveSteps(steps, questions);
		};

		const settle = async (plan: Plan, { sourceArea }: Clipboard, target: StoragePath) => {
			if (plan.kind === 'copy') {
				const settled = await settleSteps(plan.steps, sourceArea, area, target);
				return settled && { ...plan, ...settled };
			}
			const settled = await settleSteps(plan.steps, sourceArea, area, target);
			return settled && { ...plan, ...settled };
		};

		const offerFor = ({ done, placed }: Transferred<MoveStep>, isMove: boolean): UndoOffer => {
			if (done.length === 0) return {};
			return remember(isMove ? undoMoves(placed, kept.hasVersions) : undoCopies(placed, kept));
		};

		/** The steps to the other area, after the questions about each folder there. Both areas are folders of the private one. */
		const settleMoves = async (direction: MoveDirection, entries: readonly Entry[]) => {
			const steps = entries.map((entry) => ({ ...moveToOtherArea(direction, entry), entry }));
			const settled: ResolvedSteps<(typeof steps)[number]> = { steps: [], passedOver: 0 };
			for (const folder of new Set(steps.map(({ toPath }) => parentPath(toPath)))) {
				const inside = steps.filter(({ toPath }) => parentPath(toPath) === folder);
				const part = await settleSteps(inside, 'public', 'private', folder);
				if (!part) return undefined;
				settled.steps.push(...part.steps);
				settled.passedOver += part.passedOver;
			}
			return settled;
		};

		type AreaStep = Replacing<MoveStep & { entry: Entry }>;

		/** Items of several folders, such as those of a search, are moved one by one. */
		const moveToArea = async (title: string, direction: MoveDirection, steps: readonly AreaStep[]) => {
			const [folder, ...others] = new Set(steps.map(({ item }) => parentPath(parsePath(item.path))));
			if (folder === undefined || others.length > 0) {
				const placed: AreaStep[] = [];
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

			restoreVersion: async (entry, version, known) => {
				const send = async () => ({ entry: await restoreVersion(area, entry.path, version.id) });
				const title = messages.restoringVersion(entry.name);
				const restored = await change(title, messages.restoreVersionFailed, send, [entry]);
				if (!restored) return false;
				const offer = remember(undoRestoredVersion(area, restored, known, await versionsOf(area, restored.path)));
				succeed(messages.versionRestored(restored.name, versionTime(version.mtime)), offer);
				show(restored);
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
				const settled = await settleMoves(direction, entries);
				if (!settled) return;
				const { steps } = settled;
				if (steps.length === 0) return void notify({ message: messages.skipped(nameItems(entries)) });
				const outcome = await moveToArea(messages.moving(namesOf(steps)), direction, steps);
				const moved = outcome.done.map(({ entry }) => entry);
				patch({ removed: moved });
				void refetch();
				const offer = moved.length > 0 ? remember(undoMoves(outcome.placed, kept.hasVersions)) : {};
				if (outcome.failed.length > 0) {
					const sentence = isPublic ? messages.moveToPublicFailed : messages.moveToPrivateFailed;
					return void fail(sentence, outcome.reason, offer);
				}
				if (outcome.isCancelled) return cancelled(messages.moveCancelled, outcome.reason, offer);
				if (moved.length === 0) return;
				const items = nameItems(moved);
				const sentence = isPublic ? messages.movedToPublic : messages.movedToPrivate;
				succeed(sentence(items), { ...skippedNote(settled), ...offer });
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
				const settled = await settle(plan, clipboard, target);
				if (!settled) return clipboard;
				if (settled.steps.length === 0 && plan.skipped.length === 0) {
					notify({ message: messages.skipped(nameItems(clipboard.items)) });
					return clipboard;
				}
				const outcome = await transfer(settled, clipboard, target, messages.pasting(namesOf(settled.steps)));
				void refetch();
				const left = clipboard.operation === 'copy' ? clipboard : without(clipboard, outcome);
				const failed = outcome.failed.length + plan.skipped.length;
				const reason = outcome.reason ?? plan.skipped[0]?.refusal;
				const isMove = clipboard.operation === 'cut';
				const offer = offerFor(outcome, isMove);
				if (outcome.isCancelled) cancelled(messages.pasteCancelled, outcome.reason, offer);
				else if (failed === 0) succeed(messages.pasted(namesOf(outcome.done)), { ...skippedNote(settled), ...offer });
				else if (outcome.done.length === 0)
					fail(isRefusal(reason) ? messages.pasteFailed : messages.pasteError, reason);
				else fail(pasteResult(outcome.done.length, failed), reason, offer);
				return left;
			},

			dropInto: async (dragged, target) => {
				const plan = planPaste(dragged, viewer, area, target);
				if (plan.kind === 'refused') return void fail(messages.moveFailed, plan.refusal);
				const settled = await settle(plan, dragged, target);
				if (!settled) return;
				if (settled.steps.length === 0) return void notify({ message: messages.skipped(nameItems(dragged.items)) });
				const outcome = await transfer(settled, dragged, target, messages.moving(namesOf(settled.steps)));
				void refetch();
				const offer = offerFor(outcome, true);
				if (outcome.isCancelled) return cancelled(messages.moveCancelled, outcome.reason, offer);
				if (outcome.reason !== undefined) return void fail(messages.moveFailed, outcome.reason, offer);
				if (outcome.done.length > 0)
					succeed(messages.moved(namesOf(outcome.done)), { ...skippedNote(settled), ...offer });
			},
		};
	}, [viewer, area, directory, patch, show, remember, kept, ask, queryClient, notify, runBatch, runTransfer, namesIn]);
}

const namesOf = (steps: readonly { item: ClipboardItem }[]) => nameItems(steps.map(({ item }) => item));

function skippedNote({ passedOver }: { passedOver: number }): { detail?: string } {
	return passedOver === 0 ? {} : { detail: messages.skipped(plural(passedOver, 'item')) };
}

/** None if they can't be fetched. */
async function versionsOf(area: Area, path: string): Promise<readonly Version[]> {
	return fetchVersions(area, path).catch(() => []);
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
