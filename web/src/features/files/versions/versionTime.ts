import { formatDate, formatTime } from '@stowage/rules';

/** How a version is called: `Nov 21, 2026, 2:05 PM`. */
export function versionTime(milliseconds: number): string {
	return `${formatDate(milliseconds)}, ${formatTime(milliseconds)}`;
}
