const dayMs = 24 * 60 * 60_000;

/**
 * Whether what began at a time of day and lasts for so long is over. What began later than now began while the clock
 * was wrong, and could last for years: of that no more is allowed than a correction of the clock, or once its length.
 */
export function isOver(since: number, lastsMs: number, now: number): boolean {
	// Also for what is no time.
	return !(now - since < lastsMs && since - now <= Math.min(lastsMs, dayMs));
}
