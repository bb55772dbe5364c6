import { parseDuration } from '@stowage/core';
import { Failure } from '@stowage/rules';

const shortUnits: Record<string, string> = { m: 'minutes', h: 'hours', d: 'days', w: 'weeks' };

/** Milliseconds that an option names, such as 30d. Throws `invalid` with the option's name. */
export function durationOf(option: string, text: string): number {
	const [, count, unit = ''] = /^(\d+)([mhdw])$/.exec(text) ?? [];
	const long = unit === 'w' ? `${Number(count) * 7} days` : `${count} ${shortUnits[unit]}`;
	const span = parseDuration(count === undefined ? text : long);
	if (span === undefined)
		throw new Failure('invalid', `${option}: must be a time of at least a minute such as 30d or 12h, not ${text}`);
	return span;
}
