/**
 * An amount of the first unit, written in the largest unit that keeps the number at 1 or more. The number is rounded
 * before the unit is chosen, so 1023.99 KB is `1.0 MB` and never `1024.0 KB`.
 */
export function formatInUnits(amount: number, base: number, units: readonly string[], decimals: number): string {
	let unit = 0;
	let text = amount.toFixed(decimals);
	while (Number(text) >= base && unit < units.length - 1) {
		amount /= base;
		unit++;
		text = amount.toFixed(decimals);
	}
	return `${text} ${units[unit]}`;
}
