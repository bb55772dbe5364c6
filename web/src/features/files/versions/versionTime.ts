import { formatDate, formatExactTime, formatTime } from '@stowage/rules';

/** How a version is called: `Nov 21, 2026, 2:05 PM`. */
export function versionTime(milliseconds: number): string {
	return `${formatDate(milliseconds)}, ${formatTime(milliseconds)}`;
}

/** The names of these versions: with seconds where several are of one minute. */
export function versionTimes(all: readonly { mtime: number }[]): (milliseconds: number) => string {
	const counts = new Map<string, number>();
	for (const { mtime } of all) counts.set(versionTime(mtime), (counts.get(versionTime(mtime)) ?? 0) + 1);
	return (milliseconds) => {
		const time = versionTime(milliseconds);
		return (counts.get(time) ?? 0) > 1 ? `${formatDate(milliseconds)}, ${formatExactTime(milliseconds)}` : time;
	};
}
