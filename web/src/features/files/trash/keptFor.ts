import { plural } from '@stowage/rules';

const second = 1000;
const units: readonly [string, number][] = [
	['day', 24 * 60 * 60 * second],
	['hour', 60 * 60 * second],
	['minute', 60 * second],
];

/** How long the trash keeps an item, in the largest unit that it is a whole number of: `30 days`, `36 hours`. */
export function keptFor(milliseconds: number): string {
	for (const [unit, length] of units) {
		if (milliseconds >= length && milliseconds % length === 0) return plural(milliseconds / length, unit);
	}
	return plural(Math.round(milliseconds / second), 'second');
}
