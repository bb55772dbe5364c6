import path from 'node:path';
import test from 'ava';
import { Client, file, json, testApp } from '../../packages/core/test/testApp.js';
import { until } from '../../packages/core/test/until.js';
import { Progress, type Step } from '../src/terminal/Progress.js';
import { dataFolder, run } from './program.js';

/** A progress on a terminal of `columns`, with the texts written to it and a clock that the test sets. */
function onTerminal(columns = 80, { isTTY = true, isShown = true } = {}) {
	const clock = { now: 0 };
	const written: { at: number; text: string }[] = [];
	const write = (text: string) => void written.push({ at: clock.now, text });
	const terminal = { isTTY, columns, write };
	const progress = new Progress(isShown, { terminal, monotonic: () => clock.now });
	return {
		clock,
		written,
		progress,
		/** The current line. */
		line: () => written.at(-1)?.text.replace(/^\r|\u001B\[K$/g, ''),
	};
}

const removing: Step = { what: 'Removing', unit: 'file', total: { count: 42 } };

test('a progress line shows share, count, speed and time left, and is cleared at the end', (t) => {
	const { clock, written, progress, line } = onTerminal();
	progress.begin(removing);
	t.is(line(), 'Removing: 0 %, 0 of 42 files');
	clock.now = 2000;
	progress.advance({ count: 10 });
	t.is(written.at(-1)?.text, '\rRemoving: 23 %, 10 of 42 files, 5.0 files/s, 7s left\u001B[K');
	clock.now = 4000;
	progress.advance({ count: 32 });
	t.regex(line() ?? '', /^Removing: 100 %, 42 of 42 files, [\d.]+ files\/s$/);
	progress.end();
	t.is(written.at(-1)?.text, '\r\u001B[K');
	clock.now = 6000;
	progress.advance({ count: 1 });
	progress.end();
	t.is(written.length, 4, 'the line is cleared once');
});

test('a progress line shows bytes beside files or alone, and no share without a known total', (t) => {
	const { clock, progress, line } = onTerminal();
	progress.begin({ what: 'Hashing', unit: 'file' });
	clock.now = 3000;
	progress.advance({ count: 1, bytes: 1_572_864 });
	t.is(line(), 'Hashing: 1 file, 1.5 MB, 512.0 KB/s');
	progress.begin({ what: 'Checking', total: { bytes: 4096 } });
	clock.now = 5000;
	progress.advance({ bytes: 1024 });
	t.is(line(), 'Checking: 25 %, 1.0 KB of 4.0 KB, 0.5 KB/s, 6s left');
	clock.now = 6000;
	progress.begin({ what: 'Reading back' });
	t.is(line(), 'Reading back');
});

test('work that was done before the progress began does not count for the speed', (t) => {
	const { clock, progress, line } = onTerminal();
	progress.begin({ what: 'Copying', total: { bytes: 10_240 } }, { bytes: 5120 });
	clock.now = 1000;
	progress.reach({ bytes: 6144 });
	t.is(line(), 'Copying: 60 %, 6.0 KB of 10.0 KB, 1.0 KB/s, 4s left');
	clock.now = 2000;
	progress.reach({ bytes: 7168 }, { bytes: 7168 });
	t.is(line(), 'Copying: 100 %, 7.0 KB of 7.0 KB, 1.0 KB/s');
});

test('a progress line is redrawn ten times a second and no more often', (t) => {
	const { clock, written, progress } = onTerminal();
	for (; clock.now < 10_000; clock.now++) {
		if (clock.now % 1000 === 0) progress.begin(removing);
		progress.advance({ count: 1 });
	}
	t.is(written.length, 100);
	for (const [index, { at }] of written.entries()) t.true(index === 0 || at - (written[index - 1]?.at ?? 0) >= 100);
	progress.end();
});

test('the last change of a progress line is drawn, even if no other change follows', async (t) => {
	const { clock, progress, line } = onTerminal();
	progress.begin(removing);
	clock.now = 10;
	progress.begin({ what: 'Reading back' });
	t.regex(line() ?? '', /^Removing/);
	clock.now = 200;
	await until('the last change is drawn', () => line() === 'Reading back');
	progress.end();
});

test('a progress line on a narrow terminal drops its least important parts and leaves the last column free', (t) => {
	const texts = new Set<string | undefined>();
	for (let columns = 80; columns > 0; columns--) {
		const { clock, progress, line } = onTerminal(columns);
		progress.begin({ what: 'Copying', unit: 'row', total: { count: 4000 } });
		clock.now = 2000;
		progress.advance({ count: 1000 });
		t.true((line() ?? '').length < columns, `${columns}: ${line()}`);
		if (columns > 8) texts.add(line());
	}
	t.deepEqual(
		[...texts],
		[
			'Copying: 25 %, 1000 of 4000 rows, 500 rows/s, 6s left',
			'Copying: 25 %, 1000 of 4000 rows, 6s left',
			'Copying: 25 %, 6s left',
			'Copying: 25 %',
			'Copying',
		],
	);
	const { progress, line } = onTerminal(0);
	progress.begin(removing);
	t.is(line(), 'Removing: 0 %, 0 of 42 files', 'a terminal of unknown width');
});

test('no progress line is written without a terminal, or when it is turned off', (t) => {
	for (const given of [{ isTTY: false }, { isShown: false }]) {
		const { clock, written, progress } = onTerminal(80, given);
		progress.begin(removing);
		clock.now = 1000;
		progress.advance({ count: 1 });
		progress.end();
		t.deepEqual(written, []);
	}
});

test('long commands show their progress on a terminal, except with --json', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload', [file('a.txt', 'A')]);
	json(await ada.post('/api/generateTempLink', { filePath: 'a.txt', expiration: '1w' }));
	const backups = await dataFolder(t);
	const zip = path.join(backups, 'one.zip');
	const here = ['--data-dir', app.dataDir, '--log-level', 'error'];
	const there = ['--data-dir', await dataFolder(t), '--log-level', 'error'];
	const shown = async (...args: string[]) => {
		const { code, stderr, stdout } = await run(args, '', { isTerminal: true });
		t.is(code, 0, stderr);
		t.notRegex(stdout, /\r/, args.join(' '));
		return stderr;
	};
	const isLine = (what: string) => new RegExp(`^\\r${what}.*\\r\\u001B\\[K$`, 's');
	t.regex(await shown('backup', zip, ...here), isLine('Reading the database: 0 rows'));
	t.regex(await shown('restore', zip, ...there), isLine('Checking the backup: 0 %, 0 B of '));
	t.regex(await shown('restore', zip, '--relink', ...here), isLine('Checking the backup: 0 %'));
	const copy = ['database', 'copy', '--to', `sqlite:${path.join(backups, 'copy.db')}`];
	t.regex(await shown(...copy, ...here), isLine('Copying: 0 rows'));
	t.regex(await shown('root', 'check', ...here), isLine('Checking the storage roots'));
	t.regex(await shown('public', 'purge', '--older-than', '1m', '--yes', ...here), isLine('Looking for files: 0 files'));
	t.is(await shown('backup', path.join(backups, 'two.zip'), '--json', ...here), '');
});
