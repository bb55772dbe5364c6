import { formatDate, formatTime } from '@stowage/rules';
import type { Job } from './jobs.js';
import { jobMessages } from './messages.js';

/** What a conversion says of its original at its end, as far as known. */
interface Result {
	losses?: readonly string[] | null | undefined;
	deletesOriginal?: boolean | null | undefined;
	isOriginalDeleted?: boolean | null | undefined;
	/** What the server says of it beside the losses, as a sentence. */
	keptReason?: string | null | undefined;
}

/** Why the original of a completed conversion is still there, in a sentence; undefined where nobody would wonder. */
export function keptReason(result: Result): string | undefined {
	const { losses, deletesOriginal, isOriginalDeleted, keptReason: reason } = result;
	// Also where it was not to be deleted: nobody should do that now.
	if (losses && losses.length > 0) return jobMessages.keptForLosses(losses);
	if (reason) return jobMessages.keptFor(reason);
	return deletesOriginal === true && isOriginalDeleted === false ? jobMessages.originalKept : undefined;
}

/** Why a waiting job waits, beside for its turn. */
export function holdText({ hold }: Pick<Job, 'hold'>): string | undefined {
	if (hold === null || hold.until === null) return hold?.reason;
	return jobMessages.heldUntil(hold.reason, formatDate(hold.until), formatTime(hold.until));
}
