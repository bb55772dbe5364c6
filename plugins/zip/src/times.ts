const firstYear = 1980;
const lastYear = 2107;

/**
 * A ZIP's own form of time: with a resolution of two seconds, from 1980 to 2107, and without a time zone. It is in UTC here: the same whatever time zone the server has.
 */
export function dosTime(mtime: number): number {
	const date = new Date(mtime);
	const year = date.getUTCFullYear();
	if (!(year >= firstYear)) return dos(firstYear, 1, 1, 0, 0, 0);
	if (year > lastYear) return dos(lastYear, 12, 31, 23, 59, 58);
	return dos(
		year,
		date.getUTCMonth() + 1,
		date.getUTCDate(),
		date.getUTCHours(),
		date.getUTCMinutes(),
		date.getUTCSeconds(),
	);
}

function dos(year: number, month: number, day: number, hours: number, minutes: number, seconds: number): number {
	const time = (hours << 11) | (minutes << 5) | (seconds >> 1);
	return ((((year - firstYear) << 9) | (month << 5) | day) * 0x10000 + time) >>> 0;
}

/** Whole seconds since the epoch in 32 bits; undefined for a time beyond. */
export function unixSeconds(mtime: number): number | undefined {
	const seconds = Math.floor(mtime / 1000);
	return seconds >= -(2 ** 31) && seconds < 2 ** 31 ? seconds : undefined;
}
