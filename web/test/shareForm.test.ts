import test from 'ava';
import type { Share } from '../src/api/shares.js';
import { changesOf, endOptions, formOf, newShareForm, newShareOf } from '../src/features/links/shares/shareForm.js';
import { shareName } from '../src/features/links/shares/shareName.js';
import type { SizeDraft } from '../src/ui/fields/sizes.js';

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
		maxUploadBytes: null,
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

test('a change sends nothing that was left as it is, which another tab may have changed meanwhile', (t) => {
	const share = shareWith({ mode: 'view', maxDownloads: 2 });
	const form = formOf(share);
	const changes = (changed: Partial<typeof form>) => changesOf({ ...form, ...changed }, share, now);
	t.deepEqual(changes({}), {});
	t.deepEqual(changes({ title: ' Tour ' }), { title: 'Tour' });
	t.deepEqual(changes({ message: 'Hi' }), { message: 'Hi' });
	t.deepEqual(changes({ maxDownloads: '3' }), { maxDownloads: 3 });
	t.deepEqual(changes({ maxDownloads: '' }), { maxDownloads: null });
	t.deepEqual(changes({ end: 'day' }), { expiresAt: now + day });
	t.like(changes({ end: 'never', removesPassword: true }), { expiresAt: null, password: null });
	t.like(changes({ removesPassword: true, password: 'another one' }), { password: 'another one' });
});

test('an existing share offers the end that it has first, and each end once', (t) => {
	const labels = (expiresAt?: number | null) =>
		endOptions(expiresAt === undefined ? undefined : shareWith({ expiresAt })).map(({ label }) => label);
	const ends = ['1 day', '1 week', '1 month', 'On a date'];
	t.deepEqual(labels(), ['Never', ...ends]);
	t.deepEqual(labels(null), ['Never', ...ends]);
	t.deepEqual(labels(now), ['May 1, 2026', 'Never', ...ends]);
	t.is(endOptions(shareWith({ expiresAt: null }))[0]?.value, formOf(shareWith({ expiresAt: null })).end);
});

test('what a share may receive is chosen in a unit, and stays exactly what it is until it is changed', (t) => {
	const chosen = (maxUpload: SizeDraft) => newShareOf({ ...newShareForm, mode: 'upload', maxUpload }, ['a'], free, now);
	t.like(chosen({ text: '10', unit: 'GB' }), { maxUploadBytes: 10 * 1024 ** 3 });
	t.like(chosen({ text: ' 1.5 mb', unit: 'GB' }), { maxUploadBytes: 1.5 * 1024 ** 2 });
	t.like(chosen({ text: ' ', unit: 'GB' }), { maxUploadBytes: null });
	for (const text of ['0', '-1', 'much'])
		t.deepEqual(chosen({ text, unit: 'GB' }), {
			field: 'maxUpload',
			problem: 'The limit of uploads must be a size such as 10 GB.',
		});
	const share = shareWith({ mode: 'upload', maxUploadBytes: 1_234_567_890 });
	const form = formOf(share);
	t.deepEqual(form.maxUpload, { text: '1.15', unit: 'GB' });
	const changes = (maxUpload: SizeDraft) => changesOf({ ...form, maxUpload }, share, now);
	t.false('maxUploadBytes' in changes(form.maxUpload));
	t.like(changes({ text: '1.15', unit: 'TB' }), { maxUploadBytes: Math.round(1.15 * 1024 ** 4) });
	t.like(changes({ text: '', unit: 'GB' }), { maxUploadBytes: null });
});

function shareWith(more: Partial<Share>): Share {
	const share = {
		maxDownloads: null,
		maxUploadBytes: null,
		askName: false,
		title: 'Trip',
		message: '',
		expiresAt: null,
	};
	return { ...share, ...more } as Share;
}

test('a share is called by its title or its item, in which what turns the direction of letters is seen', (t) => {
	t.is(shareName({ title: 'T\u202Er', items: [] }), 'T\uFFFDr');
	t.is(shareName({ title: '', items: [{ path: 'docs/a\u202Egpj.exe' }] as Share['items'] }), 'a\uFFFDgpj.exe');
	t.is(shareName({ title: '', items: [{ path: 'a' }, { path: 'b' }] as Share['items'] }), '2 items');
});
