import test from 'ava';
import type { Share } from '../src/api/shares.js';
import { changesOf, formOf, keptEndLabel, newShareForm, newShareOf } from '../src/features/links/shares/shareForm.js';

const now = new Date('2026-05-01T12:00:00').getTime();
const day = 24 * 60 * 60_000;
const free = { requirePassword: false };

test('a share is asked for with what was chosen, and with nothing else', (t) => {
	t.deepEqual(newShareOf(newShareForm, ['a', 'b'], free, now), {
		items: [{ path: 'a' }, { path: 'b' }],
		mode: 'view',
		message: '',
		expiresAt: null,
		maxDownloads: null,
	});
	const full = { mode: 'both', end: 'week', password: 'correct horse', maxDownloads: ' 3 ', asksName: true } as const;
	t.deepEqual(newShareOf({ ...newShareForm, ...full, title: ' Trip ', message: 'Hi' }, ['a'], free, now), {
		items: [{ path: 'a' }],
		mode: 'both',
		askName: true,
		title: 'Trip',
		message: 'Hi',
		expiresAt: now + 7 * day,
		password: 'correct horse',
		maxDownloads: 3,
	});
});

test('a limit of downloads is not sent for a share that only receives', (t) => {
	const share = newShareOf({ ...newShareForm, mode: 'upload', maxDownloads: '3' }, ['a'], free, now);
	t.false(typeof share === 'object' && 'maxDownloads' in share);
});

test('a share ends with the day that was chosen, which must not be over', (t) => {
	const on = (date: string) => newShareOf({ ...newShareForm, end: 'date', date }, ['a'], free, now);
	t.like(on('2026-05-01'), { expiresAt: new Date('2026-05-01T23:59:59.999').getTime() });
	for (const date of ['2026-04-30', '', '20261-99-99'])
		t.deepEqual(on(date), { field: 'date', problem: 'Please choose a day that has not ended.' });
});

test('what is missing or wrong is said in a sentence, of its field', (t) => {
	const refused = (form: Partial<typeof newShareForm>, requirePassword = false) =>
		newShareOf({ ...newShareForm, ...form }, ['a'], { requirePassword }, now);
	const inField = (field: string, problem: string) => ({ field, problem });
	t.deepEqual(refused({ password: '1234567' }), inField('password', 'The password must have at least 8 characters.'));
	t.deepEqual(refused({}, true), inField('password', 'A share needs a password on this server.'));
	for (const maxDownloads of ['0', '-1', '1.5', 'ten'])
		t.deepEqual(
			refused({ maxDownloads }),
			inField('maxDownloads', 'The limit of downloads must be a whole number from 1.'),
		);
});

test('a change sends no end and no password that were left as they are', (t) => {
	const share = { mode: 'view', maxDownloads: 2, askName: false, title: 'Trip', message: '', expiresAt: null } as Share;
	const form = formOf(share);
	t.is(keptEndLabel(share), 'Never');
	t.deepEqual(changesOf(form, now), { title: 'Trip', message: '', maxDownloads: 2 });
	t.like(changesOf({ ...form, end: 'never', removesPassword: true }, now), { expiresAt: null, password: null });
	t.like(changesOf({ ...form, removesPassword: true, password: 'another one' }, now), { password: 'another one' });
});
