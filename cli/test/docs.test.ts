import { execFile as execFileWithCallback } from 'node:child_process';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { Client, file, json, testApp } from '../../packages/core/test/testApp.js';
import { defaultPlugins } from '../src/commandLine/settings.js';
import { createProgram } from '../src/program.js';
import { dataFolder, run } from './program.js';
import { verifyUnit } from './verifyUnit.js';

const execFile = promisify(execFileWithCallback);

/** `dist` holds the same folders as the tree. */
const docs = fileURLToPath(new URL('../../docs/', import.meta.url.replace('/dist/', '/')));

const onlyDatabase = '## Only the database is damaged';

/** The commands of a page, or of the part of it before or after a heading, in their order, without comments. */
async function commandsIn(page: string, heading?: string, part: 0 | 1 = 0): Promise<string[][]> {
	const whole = await readFile(path.join(docs, page), 'utf8');
	const text = heading === undefined ? whole : (whole.split(heading)[part] ?? '');
	// The program that a backup is piped to is a matter of taste, and what is passed as standard input too.
	const lines = [...text.matchAll(/^ {4}((?:stowage|rsync) [^|<\n]*?)(?: +#.*)?$/gm)].flatMap(([, line = '']) =>
		line.split(' && ').map((each) => each.split(' ')),
	);
	if (lines.length === 0) throw new Error(`${page} has no commands.`);
	return lines;
}

test('the commands on the pages for administrators succeed one after another, and a restored link still works', async (t) => {
	const app = await testApp(t);
	const backups = await dataFolder(t);
	const restored = await dataFolder(t);
	const disks = await dataFolder(t);
	const inPlace = (words: readonly string[], dataDir: string) =>
		words.map((word) => word.replace('/var/lib/stowage', dataDir).replace('/backup', backups).replace('/mnt', disks));
	const perform = async (words: readonly string[], dataDir: string, worst = 0) => {
		const [program = '', ...args] = inPlace(words, dataDir);
		if (program === 'rsync') return void (await execFile(program, args));
		const hasSettings = args[0] !== 'completion';
		const all = hasSettings ? [...args, '--data-dir', dataDir, '--log-level', 'error'] : args;
		const asksPassword = /^user (add|passwd)/.test(args.join(' '));
		const { code, stderr } = await run(all, asksPassword ? 'correct horse\n' : '');
		t.true((code ?? 1) <= worst, `${words.join(' ')}: ${code} ${stderr}`);
	};
	for (const words of await commandsIn('users.md')) await perform(words, app.dataDir);

	const { dataDir } = await testApp(t);
	for (const words of await commandsIn('roots.md')) await perform(words, dataDir);

	const grace = await new Client(app).register('grace');
	await grace.upload('/api/upload', [file('a.txt', 'A')]);
	const { token } = json(await grace.post('/api/generateTempLink', { filePath: 'a.txt', expiration: '1d' }));
	for (const words of await commandsIn('backup.md')) await perform(words, app.dataDir);
	const [dated = ''] = (await readdir(backups)).filter((name) => /^stowage-.*Z\.zip$/.test(name));
	for (const words of await commandsIn('restore.md', onlyDatabase))
		await perform(
			words.map((word) => word.replace('stowage-2031-02-03T030000Z.zip', dated)),
			restored,
		);
	const again = await testApp(t, { '--data-dir': restored });
	t.is((await new Client(again).get(`/api/temp/${token}`)).payload, 'A');
	// Warnings depend on this machine.
	for (const words of await commandsIn('trouble.md')) await perform(words, restored, 1);
});

test('the steps for a damaged database keep the files of today, their links, and what was deleted since the backup', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload', [file('a.txt', 'A'), file('old.txt', 'old')]);
	const { token } = json(await ada.post('/api/generateTempLink', { filePath: 'a.txt', expiration: '1d' }));
	const backups = await dataFolder(t);
	const zip = path.join(backups, 'stowage-2031-02-03T030000Z.zip');
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
	t.is((await run(['backup', zip, ...flags])).code, 0);
	await ada.upload('/api/upload', [file('today.txt', 'of today')]);
	await ada.call('DELETE', '/api/deleteItem', { filePath: 'old.txt', type: 'private' });
	await app.stop();
	const damaged = path.join(backups, 'damaged');
	await mkdir(damaged);
	await writeFile(path.join(app.dataDir, 'stowage.db'), 'damaged', { flag: 'r+' });

	const text = await readFile(path.join(docs, 'restore.md'), 'utf8');
	const [, move = ''] = /^ {4}sudo sh -c '(mv .*stowage\.db\*.*)'$/m.exec(text) ?? [];
	const here = (word: string) =>
		word
			.replaceAll('/var/lib/stowage.damaged', damaged)
			.replaceAll('/var/lib/stowage', app.dataDir)
			.replaceAll('/backup', backups);
	await execFile('sh', ['-c', here(move)]);
	for (const words of await commandsIn('restore.md', onlyDatabase, 1)) {
		const { code, stderr } = await run([...words.slice(1).map(here), ...flags]);
		t.is(code, 0, `${words.join(' ')}: ${stderr}`);
	}
	const again = await testApp(t, { '--data-dir': app.dataDir });
	const client = new Client(again);
	t.is((await client.get(`/api/temp/${token}`)).payload, 'A');
	t.is((await client.post('/api/login', { username: 'ada', password: 'correct horse' })).statusCode, 200);
	t.is((await client.get('/api/download/today.txt?type=private')).payload, 'of today');
	t.deepEqual(
		json(await client.get('/api/trash')).entries.map(({ name }: { name: string }) => name),
		['old.txt'],
	);
});

test('the steps of a nightly backup leave the copy of the files as it is while their disk is away, and copy no unfinished upload', async (t) => {
	const text = await readFile(path.join(docs, 'backup.md'), 'utf8');
	const [, typed = ''] = /^( {4}stowage backup .*\n {4}.* && rsync .*)$/m.exec(text) ?? [];
	// A shell goes on after a line that failed, and a service does not.
	const inShell = typed.split('\n').map((line) => line.trim().split(' && '));
	const inService = [[...text.matchAll(/^ExecStart=\/usr\/bin\/(.*)$/gm)].map(([, line = '']) => line)];
	for (const lines of [inShell, inService, inService.map(([, ...afterZip]) => afterZip)]) {
		const { dataDir } = await testApp(t);
		const backups = await dataFolder(t);
		const perform = async (line: string) => {
			const [program = '', ...words] = line
				.split(' ')
				.map((word) => word.replace('/var/lib/stowage', dataDir).replace('/backup', backups));
			if (program === 'stowage')
				return (await run([...words, '--data-dir', dataDir, '--log-level', 'error'])).code === 0;
			return execFile(program, words).then(
				() => true,
				() => false,
			);
		};
		const night = async () => {
			const done: boolean[] = [];
			for (const steps of lines) {
				let isGood = true;
				for (const step of steps) isGood = isGood && (await perform(step));
				done.push(isGood);
			}
			return done.every((isGood) => isGood);
		};
		const copied = (name: string) => readFile(path.join(backups, 'files', name), 'utf8');
		await writeFile(path.join(dataDir, 'files/Public/photo.txt'), 'the only photo');
		await writeFile(path.join(dataDir, 'files/.stowage/staging/upload'), 'unfinished');
		await mkdir(path.join(dataDir, 'audit'), { recursive: true });
		t.true(await night());
		t.is(await copied('Public/photo.txt'), 'the only photo');
		await t.throwsAsync(copied('.stowage/staging/upload'), { code: 'ENOENT' });
		await copied('.stowage/root.json');

		await rename(path.join(dataDir, 'files'), path.join(dataDir, 'disk'));
		await mkdir(path.join(dataDir, 'files'));
		t.false(await night(), 'it is known in the morning');
		t.is(await copied('Public/photo.txt'), 'the only photo');
	}
});

test('the units for a backup every night pass systemd-analyze verify', async (t) => {
	const folder = await dataFolder(t);
	const text = await readFile(path.join(docs, 'backup.md'), 'utf8');
	const units = [...text.matchAll(/`\/etc\/systemd\/system\/(stowage-backup\.\w+)`:\n\n```ini\n([\s\S]*?)```/g)];
	t.deepEqual(
		units.map(([, name]) => name),
		['stowage-backup.service', 'stowage-backup.timer'],
	);
	// The program need not be installed here.
	for (const [, name = '', unit = ''] of units)
		await writeFile(path.join(folder, name), unit.replaceAll('/usr/bin/stowage', process.execPath));
	for (const [, name = ''] of units) {
		t.deepEqual(await verifyUnit(path.join(folder, name)), { code: 0, output: '' }, name);
	}
});

/** The schema of a plugin's options: a map, or one whose result is changed. */
interface Options {
	shape?: object;
	in?: { shape: object };
	parse(value: unknown): Record<string, unknown>;
}

/** Former names of options, which are still read. */
const formerOptions = ['mostHours'];

test('config/default.yaml has each option of the plugins that come with the program, with its default', async (t) => {
	const text = await readFile(path.join(docs, '../config/default.yaml'), 'utf8');
	const [, plugins = ''] = text.split('\nplugins:\n');
	const parts = plugins.split(/^ {2}"(@stowage\/[a-z-]+)": \{\}\n/m).slice(1);
	t.deepEqual(
		parts.filter((_, index) => index % 2 === 0),
		defaultPlugins,
	);
	for (const [index, name] of defaultPlugins.entries()) {
		const lines = [...(parts[2 * index + 1] ?? '').matchAll(/^ {4}# (\w+: \S+)$/gm)].map(([, line = '']) => line);
		const documented = lines.length === 0 ? {} : parse(lines.join('\n'));
		const { options } = ((await import(name)) as { plugin: { options: Options } }).plugin;
		const { shape = options.in?.shape ?? {} } = options;
		const known = Object.keys(shape).filter((key) => !formerOptions.includes(key));
		t.deepEqual(Object.keys(documented).sort(), known.sort(), name);
		const defaults = options.parse({});
		for (const [key, value] of Object.entries(documented))
			if (defaults[key] !== undefined) t.deepEqual(value, defaults[key], `${name}: ${key}`);
		t.notThrows(() => options.parse(documented), name);
	}
});

/** The words of each command that has no subcommands. */
function leavesOf(command: Command, words: readonly string[] = []): string[][] {
	if (command.commands.length === 0) return [[...words]];
	return command.commands.flatMap((each) => leavesOf(each, [...words, each.name()]));
}

test('the help of each command explains its exit codes, and the table in the docs lists all of them', async (t) => {
	const text = await readFile(path.join(docs, 'operations.md'), 'utf8');
	const [, section = ''] = text.split('## Exit codes\n');
	const rows = [...section.slice(0, section.indexOf('\n## ')).matchAll(/^\| (\d+) \| (.+?) \|/gm)];
	const documented = new Map(rows.map(([, code, of = '']) => [Number(code), of]));
	const known = new Set<number>();
	for (const words of leavesOf(await createProgram())) {
		const { stdout } = await run([...words, '--help']);
		const [, codes] = /\n\nExit codes: (.+)$/.exec(stdout) ?? [];
		if (codes === undefined) {
			t.fail(`${words.join(' ')} does not explain its exit codes`);
			continue;
		}
		const own = new Set(Array.from(codes.matchAll(/(?:^|, )(\d+) /g), ([, code]) => Number(code)));
		for (const [code, of] of documented) {
			const isNamed = of.includes(`\`${words.join(' ')}\``);
			t.is(own.has(code), of.startsWith('all') ? !isNamed : isNamed, `${words.join(' ')}: ${code}`);
		}
		for (const code of own) known.add(code);
	}
	t.deepEqual(
		[...documented.keys()],
		[...known].sort((a, b) => a - b),
	);
});
