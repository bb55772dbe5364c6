import test from 'ava';
import { formatDate, formatTime } from '../../src/index.js';

const afternoon = Date.UTC(2026, 10, 21, 14, 5);

test('A date has a short month, the day and the year', (t) => {
	t.is(formatDate(afternoon, 'UTC'), 'Nov 21, 2026');
});

test('A time has twelve hours and a plain space before PM', (t) => {
	t.is(formatTime(afternoon, 'UTC'), '2:05 PM');
	t.is(formatTime(Date.UTC(2026, 0, 1), 'UTC'), '12:00 AM');
});

test('The time zone decides both', (t) => {
	t.is(formatDate(afternoon, 'Asia/Tokyo'), 'Nov 21, 2026');
	t.is(formatDate(afternoon, 'Pacific/Auckland'), 'Nov 22, 2026');
	t.is(formatTime(afternoon, 'Asia/Kolkata'), '7:35 PM');
});

test('Without a time zone the local one holds', (t) => {
	const local = new Date(2026, 10, 21, 14, 5).getTime();
	t.is(formatDate(local), 'Nov 21, 2026');
	t.is(formatTime(local), '2:05 PM');
});

test('A time that is no date is shown as nothing', (t) => {
	t.is(formatDate(9e15), '');
	t.is(formatTime(Number.NaN), '');
});
