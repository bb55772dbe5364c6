import test from 'ava';
import stringWidth from 'string-width';
import { Client, testApp } from '../../packages/core/test/testApp.js';
import { usualMs } from '../../test/processorTime.js';
import { type Column, Table } from '../src/terminal/table.js';
import { run } from './program.js';

function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string[] {
	return new Table(columns).lines(rows, width);
}

test('a table aligns its columns below their titles, also for wide and combining characters', (t) => {
	const columns = [{ title: 'NAME' }, { title: 'SIZE' }, { title: 'PATH' }];
	const rows = [
		['ada', '1 KB', 'a.txt'],
		['日本語の名前', '12 MB', 'b.txt'],
		['e\u0301mile', '2 GB', '👩‍👩‍👧.jpg'],
	];
	const lines = tableLines(columns, rows, 80);
	t.is(lines[0], 'NAME          SIZE   PATH');
	t.deepEqual(
		lines.slice(1).map((line, at) => stringWidth(line.slice(0, line.indexOf(rows[at]?.[2] ?? '')))),
		[21, 21, 21],
	);
});

test('long values are cut or wrapped on a narrow terminal, and ids never', (t) => {
	const id = '5f0c6f4e-6a3c-4b2a-9d43-0d1f1f6b7a10';
	const columns = [{ title: 'ID' }, { title: 'PATH', fit: 'cut' as const }, { title: 'ERROR', fit: 'wrap' as const }];
	const error = 'The disk is full. Nothing was written to it.';
	const lines = tableLines(columns, [[id, `${'字'.repeat(30)}.jpg`, error]], 70);
	for (const line of lines) t.true(stringWidth(line) <= 70, line);
	t.true(lines[1]?.startsWith(`${id}  字`));
	t.regex(lines[1] ?? '', /字… /);
	t.is(
		lines
			.slice(1)
			.map((line) => (/…? {2}([^字]*)$/.exec(line)?.[1] ?? '').trim())
			.join(' '),
		error,
	);
	t.deepEqual(tableLines([{ title: 'ID' }], [[id]], 10), ['ID', id]);
});

test('a column without values is left out, and so is the table without rows', (t) => {
	const columns = [{ title: 'NAME' }, { title: 'DEFAULT' }, { title: 'STATE' }];
	t.deepEqual(tableLines(columns, [['big', '', 'ok']], 80), ['NAME  STATE', 'big   ok']);
	t.deepEqual(tableLines(columns, [], 80), []);
});

test('further rows continue below the former ones, with a header again only for a column that was left out', (t) => {
	const table = new Table([{ title: 'NAME' }, { title: 'DEFAULT' }, { title: 'STATE' }]);
	t.deepEqual(table.lines([['big', '', 'ok']], 80), ['NAME  STATE', 'big   ok']);
	t.deepEqual(table.lines([], 80), []);
	t.deepEqual(table.lines([['a', '', 'ok']], 80), ['a     ok']);
	t.deepEqual(table.lines([['enormous', '', 'ok']], 80), ['enormous  ok']);
	t.deepEqual(table.lines([['a', 'yes', 'ok']], 80), ['NAME      DEFAULT  STATE', 'a         yes      ok']);
});

test('of a text that is much longer than its column the beginning is measured and shown', async (t) => {
	const path = `/${'aא'.repeat(30_000)}`;
	const rows = Array.from({ length: 20 }, () => ['1', path, path]);
	const columns: Column[] = [{ title: 'ID' }, { title: 'PATH', fit: 'cut' }, { title: 'ERROR', fit: 'wrap' }];
	let lines: string[] = [];
	const ms = await usualMs(() => {
		lines = tableLines(columns, rows, 80);
	});
	// The whole texts took minutes.
	t.true(ms < 10_000, `${ms} ms`);
	for (const line of lines) t.true(stringWidth(line) <= 80, line);
	t.is(lines.filter((line) => line.endsWith('…')).length, 20);
	t.regex(lines[1] ?? '', /^1 {3}\/aאaא\S+… {2}\/aא/);
});

test('also of a text in a column that is not shortened', (t) => {
	const path = `/${'aא'.repeat(30_000)}`;
	const [, line = ''] = tableLines([{ title: 'ID' }, { title: 'WHERE' }], [['1', path]], 80);
	t.regex(line, /^1 {3}\/aאaא\S+…$/);
	t.true(line.length < 5000, `${line.length} characters`);
});

test('long paths are cut in the lists of what is shared and of what a user has', async (t) => {
	const app = await testApp(t);
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
	const ada = await new Client(app).register('ada');
	await new Client(app).register('bob');
	const folderName = 'long'.repeat(60);
	await ada.post('/api/createFolder', { directory: '', folderName, type: 'private' });
	t.is((await run(['share', 'set-members', 'ada', folderName, 'bob:view', ...flags])).code, 0);
	const base64 = (text: string) => Buffer.from(text).toString('base64');
	const answer = await ada.call('POST', '/api/uploads', undefined, {
		...{ 'tus-resumable': '1.0.0', 'upload-length': '5000000' },
		'upload-metadata': `filename ${base64('a.bin')},type ${base64('private')},directory ${base64(folderName)}`,
	});
	t.is(answer.statusCode, 201);
	for (const words of [
		['share', 'members'],
		['user', 'show', 'ada'],
	]) {
		const { stdout } = await run([...words, ...flags], '', { columns: 100 });
		const shown = stdout.split('\n').filter((line) => line.includes('longlong'));
		t.is(shown.length, 1, stdout);
		for (const line of shown) t.true(line.includes('…') && stringWidth(line) <= 100, line);
	}
});

test('a word that is wider than its column continues on further lines, and the next one behind it', (t) => {
	const wide = tableLines([{ title: 'WHAT', fit: 'wrap' }], [['see /srv/日本語/files now']], 12);
	t.deepEqual(wide, ['WHAT', 'see', '/srv/日本語/', 'files now']);
});
