/** By how much the clock of the server is ahead of this computer's, in milliseconds, as far as its answers tell. */
let ahead = 0;

/**
 * Learns from an answer what time it is on the server. Its `Date` is in whole seconds, and of some moment since the call was sent: the
 * known difference stays as long as both allow for it, so that clocks that agree do.
 */
export function learnServerTime(answer: Response, sentAt: number, receivedAt = Date.now()): void {
	const date = Date.parse(answer.headers.get('date') ?? '');
	if (Number.isNaN(date)) return;
	ahead = Math.max(date - receivedAt, Math.min(ahead, date + 999 - sentAt));
}

/** The time on the server, in milliseconds since the epoch: what its times are compared with, and made from. */
export function serverNow(): number {
	return Date.now() + ahead;
}
