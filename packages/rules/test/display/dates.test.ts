import test from 'ava';
import { formatDate, formatExactTime, formatTime } from '../../src/index.js';

const afternoon = Date.UTC(2026, 10, 21, 14, 5);

test('a date is shown as short month, day and year', (t) => {
	t.is(formatDate(afternoon, 'UTC'), 'Nov 21, 2026');
});

test('a time is shown with twelve hours and a plain space before PM', (t) => {
	t.is(formatTime(afternoon, 'UTC'), '2:05 PM');
	t.is(formatTime(Date.UTC(2026, 0, 1), 'UTC'), '12:00 AM');
	t.is(formatExactTime(afternoon + 9_999, 'UTC'), '2:05:09 PM');
});

test('dates and times are shown in the given time zone', (t) => {
	t.is(formatDate(afternoon, 'Asia/Tokyo'), 'Nov 21, 2026');
	t.is(formatDate(afternoon, 'Pacific/Auckland'), 'Nov 22, 2026');
	t.is(formatTime(afternoon, 'Asia/Kolkata'), '7:35 PM');
});

test('dates and times are shown in the local time zone by default', (t) => {
	const local = new Date(2026, 10, 21, 14, 5).getTime();
	t.is(formatDate(local), 'Nov 21, 2026');
	t.is(formatTime(local), '2:05 PM');
});

test('an invalid time is shown as empty text', (t) => {
	t.is(formatDate(9e15), '');
	t.is(formatTime(Number.NaN), '');
});
