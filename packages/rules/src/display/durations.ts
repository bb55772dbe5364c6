import { formatInUnits } from './units.js';

/** `45s` under a minute, `2m 5s` from there on (spec, sections 2 and 9). */
export function formatDuration(seconds: number): string {
	// Rounded first, or 59.7 would be '60s'.
	const whole = Math.round(seconds);
	return whole < 60 ? `${whole}s` : `${Math.floor(whole / 60)}m ${whole % 60}s`;
}

/** A speed as `512.0 KB/s` or `1.5 MB/s` (spec, section 9), base 1024. */
export function formatSpeed(bytesPerSecond: number): string {
	return formatInUnits(bytesPerSecond / 1024, 1024, ['KB/s', 'MB/s'], 1);
}

/** The whole seconds left at this speed; undefined while unknown. */
export function remainingSeconds(bytesLeft: number, bytesPerSecond: number | undefined): number | undefined {
	if (bytesLeft <= 0) return 0;
	if (bytesPerSecond === undefined || bytesPerSecond <= 0) return undefined;
	return Math.ceil(bytesLeft / bytesPerSecond);
}
