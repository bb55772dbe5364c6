import {
	type Clipboard,
	type ClipboardItem,
	isFailure,
	type MoveStep,
	type PastePlan,
	pasteResult,
	planPaste,
	type StoragePath,
} from '@stowage/rules';
import { nameItems } from '../../messages.js';
import { undoCopies, undoMoves } from '../../undo/reversals.js';
import type { UndoOffer } from '../../undo/useUndo.js';
import { operationMessages as messages } from '../messages.js';
import type { Outcome } from '../runEach.js';
import type { Transferred } from '../transferOutcome.js';
import type { OperationParts } from './OperationParts.js';
import type { VerbTexts } from './outcomeNotice.js';
import { settlePlan } from './settleNames.js';

/** Pastes into a folder. Resolves to the rest of the clipboard. */
export async function paste(
	parts: OperationParts,
	clipboard: Clipboard,
	target: StoragePath,
): Promise<Clipboard | undefined> {
	const { viewer, area, outcomes, forget, refetch, runTransfer } = parts;
	let plan: PastePlan;
	try {
		plan = planPaste(clipboard, viewer, area, target);
	} catch (error) {
		// Such as a path that would be too long.
		outcomes.failed(messages.pasteError, error);
		return clipboard;
	}
	if (plan.kind === 'refused') {
		outcomes.failed(messages.pasteFailed, plan.refusal);
		return clipboard;
	}
	const from = clipboard.sourceArea;
	const settled = await settlePlan(parts, plan, { from, to: area, folder: target });
	if (!settled) return clipboard;
	if (settled.steps.length === 0 && plan.skipped.length === 0) {
		outcomes.skipped(messages.skipped(nameItems(clipboard.items)));
		return clipboard;
	}
	const title = messages.pasting(nameItems(itemsOf(settled.steps)));
	const outcome = await runTransfer(title, { ...settled, from, to: area, directory: target });
	if (clipboard.operation === 'cut') forget(from, itemsOf(outcome.done));
	refetch();
	const left = clipboard.operation === 'copy' ? clipboard : without(clipboard, outcome);
	const failed = outcome.failed.length + plan.skipped.length;
	const reason = outcome.reason ?? plan.skipped[0]?.refusal;
	outcomes.ended(
		pasteTexts(reason),
		{ done: itemsOf(outcome.done), failed, left: outcome.left.length, skipped: settled.passedOver, reason },
		undoOffer(parts, outcome, clipboard.operation === 'cut'),
	);
	return left;
}

/** Moves the dragged entries into a folder. */
export async function dropInto(parts: OperationParts, dragged: Clipboard, target: StoragePath): Promise<void> {
	const { viewer, area, outcomes, forget, refetch, runTransfer } = parts;
	const plan = planPaste(dragged, viewer, area, target);
	if (plan.kind === 'refused') return outcomes.failed(messages.moveFailed, plan.refusal);
	const from = dragged.sourceArea;
	const settled = await settlePlan(parts, plan, { from, to: area, folder: target });
	if (!settled) return;
	if (settled.steps.length === 0) return outcomes.skipped(messages.skipped(nameItems(dragged.items)));
	const title = messages.moving(nameItems(itemsOf(settled.steps)));
	const outcome = await runTransfer(title, { ...settled, from, to: area, directory: target });
	const done = itemsOf(outcome.done);
	forget(from, done);
	refetch();
	const ended = { done, failed: outcome.failed.length, left: outcome.left.length, reason: outcome.reason };
	// Those that can't go there, such as the folder itself.
	const skipped = settled.passedOver + plan.skipped.length;
	outcomes.ended(moveTexts, { ...ended, skipped }, undoOffer(parts, outcome, true));
}

const moveTexts: VerbTexts = {
	verb: 'Moved',
	done: messages.moved,
	none: messages.moveFailed,
	partly: messages.moveFailed,
	cancelled: messages.moveCancelled,
};

function pasteTexts(reason: unknown): VerbTexts {
	return {
		verb: 'Pasted',
		done: messages.pasted,
		none: isRefusal(reason) ? messages.pasteFailed : messages.pasteError,
		partly: pasteResult,
		cancelled: messages.pasteCancelled,
	};
}

function undoOffer(
	{ remember, kept }: OperationParts,
	{ done, placed }: Transferred<MoveStep>,
	isMove: boolean,
): UndoOffer {
	if (done.length === 0) return {};
	return remember(isMove ? undoMoves(placed, kept.hasVersions) : undoCopies(placed, kept));
}

/** Whether the server refused the request. Anything else is an error of the server, the connection or the page. */
function isRefusal(reason: unknown): boolean {
	return isFailure(reason) && reason.status < 500;
}

function itemsOf(steps: readonly { item: ClipboardItem }[]): ClipboardItem[] {
	return steps.map(({ item }) => item);
}

/** Cut items that were not moved stay on the clipboard. */
function without(clipboard: Clipboard, outcome: Outcome<{ item: ClipboardItem }>): Clipboard | undefined {
	const moved = new Set(itemsOf(outcome.done));
	const items = clipboard.items.filter((item) => !moved.has(item));
	return items.length === 0 ? undefined : { ...clipboard, items };
}
