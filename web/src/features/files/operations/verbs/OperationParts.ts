import type { Area, Entry, StoragePath, Viewer } from '@stowage/rules';
import type { TakenNames } from '../../../../api/listings/takenNames.js';
import type { Notice } from '../../../../ui/notifications/notifications.js';
import type { ListingPatch } from '../../folder/useListingPatch.js';
import type { Kept } from '../../undo/reversals.js';
import type { Undoing, UndoOffer } from '../../undo/useUndo.js';
import { reasonOf } from '../runEach.js';
import type { RunBatch } from '../useBatch.js';
import type { LookUp } from '../useLookUp.js';
import type { Ask } from '../useQuestions.js';
import type { RunTransfer } from '../useTransfer.js';
import { type Ended, outcomeNotice, type VerbTexts } from './outcomeNotice.js';

/** The folder that is shown, and what an operation in it may use. */
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

/** What every operation on files works with. */
export interface OperationParts extends OperationContext {
	outcomes: OutcomeNotices;
	runBatch: RunBatch;
	lookUp: LookUp;
	runTransfer: RunTransfer;
	/** The names in a folder of an area. */
	namesIn: (area: Area, folder: StoragePath) => Promise<TakenNames>;
	/** Takes entries out of all listings of an area that were fetched, so that none shows them until it is fetched again. */
	forget: (area: Area, entries: readonly Pick<Entry, 'path' | 'owner'>[]) => void;
	/** Fetches what is shown again, in both areas: a move to public changes both of them, and the counts of the folders above. */
	refetch: () => void;
}

/** The notices that say how an operation ended. */
export interface OutcomeNotices {
	succeeded: (message: string, offer?: UndoOffer) => void;
	failed: (message: string, reason: unknown) => void;
	/** The work on several items has ended. */
	ended: (texts: VerbTexts, ended: Ended, offer: UndoOffer) => void;
	/** All items were skipped. */
	skipped: (message: string) => void;
}

export function outcomeNotices(notify: (notice: Notice) => string): OutcomeNotices {
	return {
		succeeded: (message, offer = {}) => void notify({ intent: 'success', message, ...offer }),
		failed: (message, reason) => void notify({ intent: 'danger', message, ...detailOf(reason) }),
		ended(texts, ended, offer) {
			const notice = outcomeNotice(texts, ended, offer);
			if (notice) notify(notice);
		},
		skipped: (message) => void notify({ message }),
	};
}

function detailOf(reason: unknown): { detail?: string } {
	const text = reasonOf(reason);
	return text === undefined ? {} : { detail: text };
}

/** A public item names its owner; a private one has none. */
export function withOwner<P extends object>(
	payload: P,
	{ owner }: Pick<Entry, 'owner'>,
): P & { owner?: string | null } {
	return { ...payload, ...(owner === undefined ? {} : { owner }) };
}
