import { Failure } from '@stowage/rules';
import { durationOf } from './durations.js';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** The largest time that has a date. */
const maxTime = 8.64e15;

const clockTime = '(\\d\\d):(\\d\\d)(?::(\\d\\d)(?:\\.(\\d{1,3}))?)?';
const timePattern = new RegExp(
	`^(?:(\\d{4})-(\\d\\d)-(\\d\\d)(?:[T ]${clockTime})?|${clockTime}) ?(Z|[+-]\\d\\d(?::?\\d\\d)?)?$`,
	'i',
);

interface Reading {
	/** Whether a time without an offset is in UTC, rather than in the time zone of this machine. */
	isUtc: boolean;
	/** Which one, of two moments that have the same time because clocks are put back between them. */
	ambiguous: 'first' | 'second';
	/** Milliseconds since the epoch. */
	now: number;
}

/**
 * The moment that an option names, in milliseconds since the epoch: a date (its beginning), a date with a time, a time of today, or a
 * span before now. Throws `invalid` with the option's name.
 */
export function timeOf(option: string, text: string, { isUtc, ambiguous, now }: Reading): number {
	const time = momentOf(option, text, { isUtc, ambiguous, now });
	if (time !== undefined && Math.abs(time) <= maxTime) return time;
	throw new Failure(
		'invalid',
		`${option}: must be a time, not ${text}. A date such as 2031-02-03 is its beginning; 2031-02-03T04:05 and 04:05 (today) are in ${isUtc ? 'UTC' : `the time zone of this machine (${zoneName()})`}, and 2031-02-03T04:05+01:00 or 2031-02-03T04:05Z anywhere; 90m, 2h, 3d and 1w are so long ago.`,
	);
}

/** ISO 8601 with the offset of this machine's time zone at that time, or in UTC. */
export function localTimeText(stored: number, isUtc: boolean): string {
	const time = dateOf(stored).getTime();
	const offset = isUtc ? 0 : offsetAt(time);
	const clock = dateOf(time + offset).toISOString();
	if (isUtc) return clock;
	const minutes = Math.abs(offset) / minuteMs;
	const two = (count: number) => String(Math.floor(count)).padStart(2, '0');
	return `${clock.slice(0, -1)}${offset < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
}

/** The date of a stored time, or the nearest there is: one row must not end the list of all. */
export function dateOf(time: number): Date {
	return new Date(Math.min(maxTime, Math.max(-maxTime, time)) || 0);
}

function momentOf(option: string, text: string, reading: Reading): number | undefined {
	if (/^\d+ ?[a-z]+$/i.test(text)) return reading.now - agoOf(option, text);
	const found = timePattern.exec(text);
	if (found === null) return undefined;
	const [, year, month, day, hour = found[8], minute = found[9], second = found[10], ms = found[11], offset] = [
		...found.slice(0, 8),
		found[12],
	];
	const isToday = year === undefined;
	// A date has no offset of its own.
	if (offset !== undefined && hour === undefined) return undefined;
	const today = localTimeText(reading.now, reading.isUtc).slice(0, 10);
	const date = isToday ? today : `${year}-${month}-${day}`;
	const wall = wallTime(`${date}T${hour ?? '00'}:${minute ?? '00'}:${second ?? '00'}.${(ms ?? '').padEnd(3, '0')}Z`);
	if (wall === undefined) return undefined;
	if (offset !== undefined) return offset.toUpperCase() === 'Z' ? wall : withOffset(wall, offset);
	if (reading.isUtc) return wall;
	return localMoment(wall, reading.ambiguous) ?? skippedMoment(option, text, wall, hour === undefined);
}

function agoOf(option: string, text: string): number {
	const [, seconds] = /^(\d+) ?s(?:ec|econds?)?$/.exec(text) ?? [];
	return seconds === undefined ? durationOf(option, text.replace(/^(\d+) ([mhdw])$/, '$1$2')) : Number(seconds) * 1000;
}

/** What a clock shows, as if it was in UTC. Undefined for what no clock and no calendar shows. */
function wallTime(iso: string): number | undefined {
	const time = Date.parse(iso);
	// The 30th of February would be the 2nd of March.
	return Number.isNaN(time) || new Date(time).toISOString() !== iso ? undefined : time;
}

function withOffset(wall: number, offset: string): number | undefined {
	const [, sign, hours = '', minutes = '00'] = /^([+-])(\d\d):?(\d\d)?$/.exec(offset) ?? [];
	if (Number(hours) > 14 || Number(minutes) > 59) return undefined;
	const ms = (Number(hours) * 60 + Number(minutes)) * minuteMs;
	return sign === '-' ? wall + ms : wall - ms;
}

/** The moment at which clocks here show this; undefined where they skip it. */
function localMoment(wall: number, ambiguous: Reading['ambiguous']): number | undefined {
	const offsets = [offsetAt(wall - dayMs), offsetAt(wall + dayMs)];
	const moments = offsets.map((offset) => wall - offset).filter((time) => time + offsetAt(time) === wall);
	return moments.length === 0 ? undefined : ambiguous === 'first' ? Math.min(...moments) : Math.max(...moments);
}

/** A day whose first hour is skipped begins after that. A time that is skipped may be meant before it or after it. */
function skippedMoment(option: string, text: string, wall: number, isDay: boolean): number {
	const moment = wall - offsetAt(wall - dayMs);
	if (isDay) return moment;
	throw new Failure(
		'invalid',
		`${option}: clocks here (${zoneName()}) are put forward, and skip ${text}. Perhaps you mean ${localTimeText(moment, false)}.`,
	);
}

/** How far clocks here are ahead of UTC, in milliseconds. */
function offsetAt(time: number): number {
	return -new Date(time).getTimezoneOffset() * minuteMs;
}

function zoneName(): string {
	return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
