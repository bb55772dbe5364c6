/**
 * The time of day at the start of the process, and what has really passed since: a clock that somebody sets, or that is put right late, must not end what
 * people began. Milliseconds since the epoch.
 */
export function steadyClock(): () => number {
	const start = Date.now() - performance.now();
	return () => Math.floor(start + performance.now());
}
