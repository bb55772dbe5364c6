import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { useTrashRefresh } from '../../../api/events/useFolderEvents.js';
import { queryKeys } from '../../../api/queryKeys.js';
import { sessionQuery } from '../../../api/session/sessionQuery.js';
import { trashQuery } from '../../../api/trash.js';
import type { Notice } from '../../../ui/notifications/notifications.js';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { nameItems } from '../messages.js';
import { operationMessages as messages } from '../operations/messages.js';
import { useBatch } from '../operations/useBatch.js';
import { undoMessages } from './messages.js';
import { type Reverted, runReversal } from './runReversal.js';
import { useUndoStore } from './UndoProvider.js';
import { undoNotices } from './undoNotices.js';
import { type Reversal, stepToUndo, type Undo } from './undoStack.js';

/** How long a notice offers to undo what it is about. */
const offeredMs = 10_000;

/** What a notice needs to offer the undo of what it is about; empty where that is not possible. */
export type UndoOffer = Pick<Notice, 'key' | 'action' | 'hidesAfter'>;

export interface Undoing {
	/** Remembers an operation that was done. */
	remember: (undo: Undo) => UndoOffer;
	/** Undoes the last operation that was not undone yet. */
	undoLast: () => void;
	/** The trash has changed: what a notice offers to restore may be restored already. */
	onTrashChanged: () => void;
}

/** Undoes what a user has done since the page was opened; a visitor has nothing to be undone. */
export function useUndo(username: string | undefined): Undoing {
	const store = useUndoStore();
	const queryClient = useQueryClient();
	const { notify, dismiss } = useNotify();
	const runBatch = useBatch();

	const checkOffers = useCallback(() => {
		const user = queryClient.getQueryData(sessionQuery.queryKey)?.username;
		if (username === undefined || user !== username || !store.offers.isToCheck) return;
		// Where it fails, the notice goes on offering it, and undoing says what it finds.
		queryClient.fetchQuery({ ...trashQuery(username), staleTime: 0 }).catch(() => {});
	}, [username, store, queryClient]);
	const refreshTrash = useTrashRefresh(checkOffers);

	return useMemo(() => {
		const isSignedIn = (user: string) => queryClient.getQueryData(sessionQuery.queryKey)?.username === user;
		/** One after another, in the order of the requests. */
		let running: Promise<unknown> = Promise.resolve();

		const revert = async (parts: readonly Reversal[], impossible: readonly string[], user: string) => {
			const left: Reversal[] = [];
			const reasons = [...impossible];
			let notStarted = 0;
			for (const part of parts) {
				// Another user, who has signed in meanwhile, has other files on the same paths.
				const isToStop = notStarted > 0 || !isSignedIn(user);
				const result: Reverted = isToStop ? untried(part) : await runReversal(part, user, runBatch);
				const { done } = result;
				if (done.length > 0) notify({ intent: 'success', message: sentences[part.kind](nameItems(done)) });
				if (result.left) left.push(result.left);
				reasons.push(...result.reasons);
				notStarted += result.notStarted;
			}
			const [rest, ...others] = left;
			if (rest) {
				const undo: Undo = others.length === 0 ? rest : { kind: 'several', parts: left, reasons: [] };
				store.dispatch({ type: 'added', username: user, step: { id: store.nextId(), undo } });
			}
			void queryClient.invalidateQueries({ queryKey: queryKeys.listings.all });
			void queryClient.invalidateQueries({ queryKey: queryKeys.trash.all });
			for (const notice of undoNotices(reasons, notStarted)) notify(notice);
		};

		const undo = (id?: number) => {
			// Another user may have signed in since the notice was shown, whose files have the same paths.
			const step =
				username === undefined || !isSignedIn(username) ? undefined : stepToUndo(store.stack(), username, id);
			if (!step || username === undefined) return void notify({ message: undoMessages.nothingToUndo });
			store.dispatch({ type: 'taken', id: step.id });
			dismiss(noticeKey(step.id));
			const { undo: reversal } = step;
			if (reversal.kind === 'impossible') {
				return void notify({ intent: 'warning', message: undoMessages.cannotUndo(reversal.reason) });
			}
			const { parts, reasons } = reversal.kind === 'several' ? reversal : { parts: [reversal], reasons: [] };
			running = running.catch(() => {}).then(() => revert(parts, reasons, username));
		};

		return {
			remember(done) {
				if (username === undefined || ('items' in done && done.items.length === 0)) return {};
				const id = store.nextId();
				store.dispatch({ type: 'added', username, step: { id, undo: done } });
				if (done.kind === 'impossible') return {};
				const key = noticeKey(id);
				// The step stays, or Ctrl+Z would undo an earlier one without a word.
				store.offers.add(done, () => dismiss(key));
				return {
					key,
					action: { text: undoMessages.undo, onClick: () => undo(id) },
					hidesAfter: offeredMs,
				};
			},
			undoLast: () => undo(),
			onTrashChanged() {
				if (store.offers.isToCheck) refreshTrash();
			},
		};
	}, [username, store, queryClient, notify, dismiss, runBatch, refreshTrash]);
}

/** The outcome of what was not tried, since the user has cancelled what came before it, or is not signed in any more. */
const untried = (left: Reversal): Reverted => ({ done: [], reasons: [], left, notStarted: left.items.length });

const noticeKey = (id: number) => `undo-${id}`;

const sentences: Readonly<Record<Reversal['kind'], (items: string) => string>> = {
	restore: messages.restored,
	moveBack: undoMessages.movedBack,
	renameBack: undoMessages.renamedBack,
	discard: undoMessages.discarded,
	restoreVersions: undoMessages.versionsRestored,
	restoreBack: undoMessages.versionsRestored,
};
