import { plural } from '@stowage/rules';
import type { Notice } from '../../../../ui/notifications/notifications.js';
import { nameItems } from '../../messages.js';
import type { UndoOffer } from '../../undo/useUndo.js';
import { operationMessages as messages } from '../messages.js';
import { reasonOf } from '../runEach.js';

/** The sentences about how a verb has ended. */
export interface VerbTexts {
	/** 'Moved', before what is done. */
	verb: string;
	/** All is done that was not skipped. */
	done: (items: string) => string;
	/** All has failed. */
	none: string;
	/** Some of it has failed; a function counts that itself. */
	partly: string | ((done: number, failed: number) => string);
	cancelled: string;
}

/** How a verb has ended, item by item. */
export interface Ended {
	done: readonly { name: string }[];
	failed: number;
	/** Not begun, since it was cancelled. */
	left: number;
	/** @default 0 */
	skipped?: number;
	reason: unknown;
}

/** The notice about how a verb has ended, with an offer about what is done. Undefined if there was nothing to be done. */
export function outcomeNotice(texts: VerbTexts, ended: Ended, offer: UndoOffer = {}): Notice | undefined {
	const { done, failed, left, skipped = 0 } = ended;
	const reason = reasonOf(ended.reason);
	const counts = `${texts.verb} ${nameItems(done)}.`;
	const others = [
		skipped > 0 && `${messages.skipped(plural(skipped, 'item'))}.`,
		left > 0 && messages.left(plural(left, 'item')),
	];
	if (failed > 0 && done.length === 0 && left === 0) {
		return { intent: 'danger', message: texts.none, ...detailOf(reason) };
	}
	if (failed > 0) {
		const { partly } = texts;
		const isCounted = typeof partly !== 'string';
		const message = isCounted ? partly(done.length, failed) : partly;
		const detail = detailOf(!isCounted && counts, !isCounted && messages.failedCount(failed), ...others, reason);
		return { intent: 'danger', message, ...detail, ...offer };
	}
	if (left > 0)
		return { message: texts.cancelled, ...detailOf(...(reason ? [reason] : [counts, ...others])), ...offer };
	if (done.length === 0) return undefined;
	const detail = skipped > 0 && { detail: messages.skipped(plural(skipped, 'item')) };
	return { intent: 'success', message: texts.done(nameItems(done)), ...detail, ...offer };
}

function detailOf(...sentences: readonly (string | false | undefined)[]): { detail?: string } {
	const detail = sentences.filter(Boolean).join(' ');
	return detail === '' ? {} : { detail };
}
