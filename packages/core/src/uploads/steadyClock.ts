/**
 * The time of day, but it never runs ahead of the time that has really passed since the start: a clock that is set wrong for a moment must not end what
 * people began.
 */
export function steadyClock(
	wallClock: () => number = Date.now,
	elapsedMs: () => number = () => performance.now(),
): () => number {
	const start = wallClock() - elapsedMs();
	return () => Math.min(wallClock(), start + elapsedMs() + slackMs);
}

/** A clock that is put right little by little is no jump. */
const slackMs = 60_000;
