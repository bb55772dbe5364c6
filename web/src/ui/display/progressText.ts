import { formatDuration, formatListSize, formatSpeed } from '@stowage/rules';
import { messages } from '../../messages.js';

/** How far long work is. */
export interface Progress {
	done: number;
	/** 0 while unknown. */
	total: number;
	unit: 'bytes' | 'items' | 'percent';
	/** Units a second. */
	speed: number | null;
	/** Seconds. */
	timeLeft: number | null;
}

/** The part that is done, 0 to 1; undefined while unknown. */
export function fractionOf({ done, total }: Pick<Progress, 'done' | 'total'>): number | undefined {
	return total > 0 ? Math.min(1, done / total) : undefined;
}

/** The amount done, the total, the speed and the time left, as far as known. A percentage is shown by its bar. */
export function progressParts({ done, total, unit, speed, timeLeft }: Progress): string[] {
	const left = timeLeft === null ? [] : [messages.timeLeft(formatDuration(timeLeft))];
	if (unit === 'percent') return left;
	const isBytes = unit === 'bytes';
	const amount = (value: number) => (isBytes ? formatListSize(value) : value.toLocaleString('en-US'));
	const of = messages.doneOf(amount(done), amount(total));
	const pace = (value: number) => (isBytes ? formatSpeed(value) : messages.itemsSpeed(amount(Math.round(value))));
	return [
		...(total === 0 ? [] : [isBytes ? of : messages.items(of)]),
		...(speed === null ? [] : [pace(speed)]),
		...left,
	];
}

/** One line of these parts, which breaks only between them. */
export function unbreakable(parts: readonly string[]): string {
	return parts.map((part) => part.replaceAll(' ', '\u00A0')).join(' · ');
}
