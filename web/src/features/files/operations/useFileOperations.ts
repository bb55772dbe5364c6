import { copyItem, createFolder, deleteItem, moveItem, renameItem } from '@stowage/contract';
import {
	type Area,
	type Clipboard,
	type ClipboardItem,
	type Entry,
	homePath,
	type PastePlan,
	parsePath,
	pasteResult,
	planPaste,
	type StoragePath,
	type Viewer,
} from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../../../api/client/client.js';
import { listingKey } from '../../../api/listings/listingQuery.js';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { type MoveDirection, nameItems } from '../dialogs/fileDialog.js';
import type { ListingPatch } from '../folder/listingPatch.js';
import { filesMessages as messages } from '../messages.js';
import { type Outcome, reasonOf } from './runEach.js';
import { useWork } from './useWork.js';

export interface OperationContext {
	viewer: Viewer;
	area: Area;
	directory: StoragePath;
	/** Shows a confirmed change before the folder is read again. */
	patch: (patch: ListingPatch) => void;
}

export interface FileOperations {
	/** Answers the new folder, or undefined if that failed. */
	createFolder: (name: string) => Promise<Entry | undefined>;
	rename: (entry: Entry, newName: string) => Promise<Entry | undefined>;
	remove: (entries: readonly Entry[]) => Promise<void>;
	move: (direction: MoveDirection, entries: readonly Entry[]) => Promise<void>;
	/** Pastes into a folder and answers what is left on the clipboard. */
	paste: (clipboard: Clipboard, target: StoragePath) => Promise<Clipboard | undefined>;
	/** Moves what was dragged into a folder. */
	dropInto: (dragged: Clipboard, target: StoragePath) => Promise<void>;
}

/** What is done to files: the calls, what the list shows of them, and what the bar says. */
export function useFileOperations({ viewer, area, directory, patch }: OperationContext): FileOperations {
	const queryClient = useQueryClient();
	const { notify } = useNotify();
	const work = useWork();

	return useMemo(() => {
		const fail = (message: string, reason: unknown) => notify({ intent: 'danger', message, ...detail(reason) });
		const succeed = (message: string) => notify({ intent: 'success', message });
		// Both areas: what moves to public leaves one and comes into the other, and counts change in the folders above.
		const readAgain = () =>
			Promise.all(
				(['private', 'public'] as const).map((each) => queryClient.invalidateQueries({ queryKey: listingKey(each) })),
			);

		/** One call for one entry, which answers the entry as it is now. */
		const change = async (title: string, failure: string, make: () => Promise<{ entry: Entry }>, removed: Entry[]) => {
			let entry: Entry | undefined;
			const outcome = await work(title, [undefined], async () => {
				({ entry } = await make());
			});
			if (entry) patch({ removed, added: [entry] });
			else fail(failure, outcome.reason);
			// Also after a refusal: what it met is often news.
			void readAgain();
			return entry;
		};

		const transfer = (plan: Exclude<PastePlan, { kind: 'refused' }>, title: string) =>
			plan.kind === 'move'
				? work(title, plan.steps, ({ item, type, fromPath, toPath }, signal) =>
						call(moveItem, { payload: withOwner({ type, fromPath, toPath }, item), signal }),
					)
				: work(title, plan.steps, ({ type, fromType, fromPath, toPath, owner }, signal) =>
						call(copyItem, { payload: { type, fromType, fromPath, toPath, ...ownerPart(owner) }, signal }),
					);

		return {
			createFolder: async (folderName) => {
				const make = () => call(createFolder, { payload: { directory, folderName, type: area } });
				const entry = await change(messages.createFolder, messages.createFailed, make, []);
				if (entry) succeed(messages.created(entry.name));
				return entry;
			},

			rename: async (entry, newName) => {
				const payload = withOwner({ oldPath: entry.path, newName, type: area }, entry);
				const renamed = await change(messages.rename, messages.renameFailed, () => call(renameItem, { payload }), [
					entry,
				]);
				if (renamed) succeed(messages.renamed(renamed.name));
				return renamed;
			},

			remove: async (entries) => {
				const outcome = await work(messages.deleting(nameItems(entries)), entries, (entry, signal) =>
					call(deleteItem, { payload: withOwner({ filePath: entry.path, type: area }, entry), signal }),
				);
				patch({ removed: outcome.done });
				void readAgain();
				const { done, failed, reason } = outcome;
				if (failed.length === 0) return void (done.length > 0 && succeed(messages.deleted(nameItems(done))));
				if (done.length === 0) return void fail(messages.deletedNone, reason);
				const partly = messages.deletedSome(nameItems(done), failed.length, reasonOf(reason));
				fail(messages.deleteFailed, partly);
			},

			move: async (direction, entries) => {
				const isPublic = direction === 'toPublic';
				const outcome = await work(messages.moving(nameItems(entries)), entries, (entry, signal) => {
					const path = parsePath(entry.path);
					const [fromPath, toPath] = isPublic ? [path, homePath('public', path)] : [homePath('public', path), path];
					return call(moveItem, { payload: { type: 'private', fromPath, toPath }, signal });
				});
				patch({ removed: outcome.done });
				void readAgain();
				if (outcome.failed.length > 0) {
					return void fail(isPublic ? messages.moveToPublicFailed : messages.moveToPrivateFailed, outcome.reason);
				}
				if (outcome.done.length === 0) return;
				const items = nameItems(outcome.done);
				succeed(isPublic ? messages.movedToPublic(items) : messages.movedToPrivate(items));
			},

			paste: async (clipboard, target) => {
				const plan = planPaste(clipboard, viewer, area, target);
				if (plan.kind === 'refused') {
					fail(messages.pasteFailed, plan.refusal);
					return clipboard;
				}
				const outcome = await transfer(plan, messages.pasting(nameItems(clipboard.items)));
				void readAgain();
				const failed = outcome.failed.length + plan.skipped.length;
				const reason = outcome.reason ?? plan.skipped[0]?.refusal;
				if (failed === 0) succeed(messages.pasted(nameItems(clipboard.items)));
				else if (outcome.done.length === 0) fail(messages.pasteFailed, reason);
				else fail(pasteResult(outcome.done.length, failed), reason);
				return clipboard.operation === 'copy' ? clipboard : without(clipboard, outcome);
			},

			dropInto: async (dragged, target) => {
				const plan = planPaste(dragged, viewer, area, target);
				if (plan.kind === 'refused') return void fail(messages.moveFailed, plan.refusal);
				const outcome = await transfer(plan, messages.moving(nameItems(dragged.items)));
				void readAgain();
				if (outcome.reason !== undefined) return void fail(messages.moveFailed, outcome.reason);
				if (outcome.done.length > 0) succeed(messages.moved(nameItems(outcome.done.map(({ item }) => item))));
			},
		};
	}, [viewer, area, directory, patch, queryClient, notify, work]);
}

function detail(reason: unknown): { detail?: string } {
	const text = typeof reason === 'string' ? reason : reasonOf(reason);
	return text === undefined ? {} : { detail: text };
}

/** A public item names its tree; a private one has none. */
function withOwner<P extends object>(payload: P, { owner }: Pick<Entry, 'owner'>): P & { owner?: string | null } {
	return { ...payload, ...ownerPart(owner) };
}

function ownerPart(owner: Entry['owner']): { owner?: string | null } {
	return owner === undefined ? {} : { owner };
}

/** What was cut and did not move stays on the clipboard. */
function without(clipboard: Clipboard, { done }: Outcome<{ item: ClipboardItem }>): Clipboard | undefined {
	const moved = new Set(done.map(({ item }) => item));
	const items = clipboard.items.filter((item) => !moved.has(item));
	return items.length === 0 ? undefined : { ...clipboard, items };
}
