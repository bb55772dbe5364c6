import { plural } from '@stowage/rules';
import type { Notice } from '../../../ui/notifications/notifications.js';
import { reasonLines } from '../../../ui/notifications/notifications.js';
import { operationMessages as messages } from '../operations/messages.js';
import { undoMessages } from './messages.js';

/** The notices about what could not be undone, for these reasons, and about how many items were not begun since it was cancelled. */
export function undoNotices(reasons: readonly string[], notStarted: number): Notice[] {
	const [reason, ...others] = reasons;
	const cancelled =
		notStarted === 0
			? []
			: [{ message: undoMessages.undoCancelled, detail: messages.left(plural(notStarted, 'item')) }];
	if (reason === undefined) return cancelled;
	const message =
		others.length === 0 ? undoMessages.cannotUndo(reason) : undoMessages.cannotUndoFor(plural(reasons.length, 'item'));
	const detail = others.length > 0 && { detail: reasonLines(reasons) };
	return [...cancelled, { intent: 'danger', message, ...detail }];
}
