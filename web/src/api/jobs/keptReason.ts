import { messages } from '../../messages.js';

/** What a conversion says of its original at its end, as far as known. */
interface Result {
	losses?: readonly string[] | null | undefined;
	deletesOriginal?: boolean | null | undefined;
	isOriginalDeleted?: boolean | null | undefined;
}

/** Why the original of a completed conversion is still there, in a sentence; undefined where nobody would wonder. */
export function keptReason({ losses, deletesOriginal, isOriginalDeleted }: Result): string | undefined {
	// Also where it was not to be deleted: nobody should do that now.
	if (losses && losses.length > 0) return messages.keptForLosses(losses);
	return deletesOriginal === true && isOriginalDeleted === false ? messages.originalKept : undefined;
}
