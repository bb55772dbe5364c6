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
import { filesMessages as messages, nameItems } from '../../messages.js';
import { undoCopies, undoMoves } from '../../undo/reversals.js';
import type { UndoOffer } from '../../undo/useUndo.js';
import type { Outcome } from '../runEach.js';
import type { Transferred } from '../transferOutcome.js';
import type { OperationParts } from './OperationParts.js';
import { namesOf, skippedNote } from './outcomeTexts.js';
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
	const title = messages.pasting(namesOf(settled.steps));
	const outcome = await runTransfer(title, { ...settled, from, to: area, directory: target });
	if (clipboard.operation === 'cut') forget(from, itemsOf(outcome));
	refetch();
	const left = clipboard.operation === 'copy' ? clipboard : without(clipboard, outcome);
	const failed = outcome.failed.length + plan.skipped.length;
	const reason = outcome.reason ?? plan.skipped[0]?.refusal;
	const offer = undoOffer(parts, outcome, clipboard.operation === 'cut');
	if (outcome.isCancelled) outcomes.cancelled(messages.pasteCancelled, outcome.reason, offer);
	else if (failed === 0)
		outcomes.succeeded(messages.pasted(namesOf(outcome.done)), { ...skippedNote(settled), ...offer });
	else if (outcome.done.length === 0)
		outcomes.failed(isRefusal(reason) ? messages.pasteFailed : messages.pasteError, reason);
	else outcomes.failed(pasteResult(outcome.done.length, failed), reason, offer);
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
	const title = messages.moving(namesOf(settled.steps));
	const outcome = await runTransfer(title, { ...settled, from, to: area, directory: target });
	forget(from, itemsOf(outcome));
	refetch();
	const offer = undoOffer(parts, outcome, true);
	if (outcome.isCancelled) return outcomes.cancelled(messages.moveCancelled, outcome.reason, offer);
	if (outcome.reason !== undefined) return outcomes.failed(messages.moveFailed, outcome.reason, offer);
	if (outcome.done.length > 0)
		outcomes.succeeded(messages.moved(namesOf(outcome.done)), { ...skippedNote(settled), ...offer });
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

function itemsOf({ done }: Outcome<{ item: ClipboardItem }>): ClipboardItem[] {
	return done.map(({ item }) => item);
}

/** Cut items that were not moved stay on the clipboard. */
function without(clipboard: Clipboard, outcome: Outcome<{ item: ClipboardItem }>): Clipboard | undefined {
	const moved = new Set(itemsOf(outcome));
	const items = clipboard.items.filter((item) => !moved.has(item));
	return items.length === 0 ? undefined : { ...clipboard, items };
}
