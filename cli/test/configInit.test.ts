import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { parse } from 'yaml';
import { dataFolder, onTerminal, run } from './program.js';

async function settingsIn(file: string): Promise<Record<string, unknown>> {
	return parse(await readFile(file, 'utf8')) as Record<string, unknown>;
}

test('config init writes the given settings and all others as comments, and never overwrites a file', async (t) => {
	const file = path.join(await dataFolder(t), 'stowage.yaml');
	const dataDir = path.join(path.dirname(file), 'made-later');
	const words = 'config init --yes --uploads-expire-after 3days --drain-delay 5seconds --port 8080 --data-dir'.split(
		' ',
	);
	const init = [...words, dataDir, file];
	const { code, stdout, stderr } = await run(init);
	t.is(code, 0, stderr);
	t.true(stdout.startsWith(`Wrote ${file}.\nNext: stowage serve --config ${file}\n`), stdout);
	const text = await readFile(file, 'utf8');
	t.true(text.includes(`\ndataDir: ${dataDir}\n`));
	t.regex(text, /^port: 8080$/m);
	t.regex(text, /^drainDelay: 5 seconds$/m);
	t.regex(text, /^# host: 127\.0\.0\.1$/m);
	t.regex(text, /^uploads:\n/m);
	const printed = await run(['config', 'print', '--config', file]);
	t.is(printed.code, 0, printed.stderr);
	t.regex(printed.stdout, /expireAfter: 3 days/);
	t.is((await run(['config', 'check', '--config', file])).code, 0);
	const again = await run(init);
	t.is(again.code, 1);
	t.true(again.stderr.startsWith(`There is a file of this name already: ${file}. `), again.stderr);
	t.is(await readFile(file, 'utf8'), text);
	t.deepEqual(await readdir(path.dirname(file)), ['stowage.yaml'], 'nothing else is left');
	const onFolder = await run(['config', 'init', '--yes', path.dirname(file)]);
	t.like(onFolder, { code: 1, stderr: `This is a folder: ${path.dirname(file)}` });
});

test('a server at a public https address is closed to strangers unless an option says otherwise, and one of the own network is open', async (t) => {
	const folder = await dataFolder(t);
	const init = async (name: string, ...flags: string[]) => {
		const file = path.join(folder, name);
		const { code, stderr } = await run(['config', 'init', '--config', file, '--yes', ...flags]);
		t.is(code, 0, stderr);
		return settingsIn(file);
	};
	const publicUrl = 'https://files.example.org';
	const cautious = { publicUrl, visitors: 'read', registration: 'closed' };
	t.like(await init('public', '--public-url', publicUrl), cautious);
	t.like(await init('off', '--public-url', publicUrl, '--visitors', 'off'), { ...cautious, visitors: 'off' });
	const own = await init('own');
	t.like(own, { visitors: 'upload', registration: 'open', dataDir: path.join(folder, 'data') });
	t.false('publicUrl' in own);
});

test('without a terminal a question without an answer is refused, and so is an invalid answer; nothing is written', async (t) => {
	const folder = await dataFolder(t);
	const init = ['config', 'init', path.join(folder, 'config.yaml')];
	const unanswered = await run([...init, '--public-url', '']);
	t.is(unanswered.code, 1);
	t.regex(unanswered.stderr, /--visitors, or .* --yes\.$/);
	const invalid = await run([...init, '--yes', '--visitors', 'some']);
	t.is(invalid.code, 78);
	t.regex(invalid.stderr, /The setting visitors \(--visitors\)/);
	t.is((await run(['config', 'init', '--yes'])).code, 1, 'no file is named');
	t.deepEqual(await readdir(folder), []);
});

test('at a terminal config init asks, again after an invalid answer, and writes in place of the file that a package brings', async (t) => {
	const folder = await dataFolder(t);
	const file = path.join(folder, 'config.yaml');
	await writeFile(file, '# As it was installed.\ndataDir: /srv/elsewhere\n');
	const answers = ['files.example.org\r', 'https://files.example.org\r', '\r', 'open\r'];
	const { code, shown } = await onTerminal(['config', 'init', '--config', file], answers);
	t.is(code, 0, shown);
	t.regex(shown, /The setting publicUrl \(--public-url\)/);
	t.deepEqual(await settingsIn(file), {
		dataDir: '/srv/elsewhere',
		publicUrl: 'https://files.example.org',
		visitors: 'read',
		registration: 'open',
	});
});

test('with --force config init changes its answers in a file, keeps all else in it and the old file beside it, with owner and mode', async (t) => {
	const folder = await dataFolder(t);
	const file = path.join(folder, 'config.yaml');
	const text = '# Of the family.\nport: 8080 # as on the router\nvisitors: off\npublicListing: everyone\n';
	await writeFile(file, text);
	await chmod(file, 0o604);
	await symlink(file, path.join(folder, 'link.yaml'));
	const init = ['config', 'init', path.join(folder, 'link.yaml'), '--yes', '--force'];
	t.is((await run([...init, '--registration', 'closed'])).code, 0);
	const changed = await readFile(file, 'utf8');
	t.regex(changed, /^# Of the family\.\nport: 8080 # as on the router$/m);
	const settings = { port: 8080, visitors: 'off', publicListing: 'everyone', registration: 'closed' };
	t.like(await settingsIn(file), settings);
	t.is((await stat(file)).mode & 0o777, 0o604);
	t.is(await readFile(`${file}.old`, 'utf8'), text);

	t.is((await run([...init, '--visitors', 'read'])).code, 0);
	t.like(await settingsIn(file), { ...settings, visitors: 'read' });
	t.is(await readFile(`${file}.old-2`, 'utf8'), changed);

	await writeFile(file, 'port: none\n');
	t.is((await run(init)).code, 78, 'a file with a mistake is for its author to correct');
	t.is(await readFile(file, 'utf8'), 'port: none\n');
});

test('the audit log has who may come by config init, and no secret, if there is a data folder', async (t) => {
	const folder = await dataFolder(t);
	const dataDir = path.join(folder, 'data');
	const init = async (file: string, ...words: string[]) =>
		run(['config', 'init', path.join(folder, file), '--yes', '--data-dir', dataDir, ...words]);
	t.is((await init('first.yaml')).code, 0);
	await t.throwsAsync(stat(dataDir), { code: 'ENOENT' }, 'none is made');
	await mkdir(dataDir);
	const { code, stderr } = await init(
		'second.yaml',
		'--visitors',
		'off',
		'--database-url',
		'mysql://ada:hunter2@127.0.0.1/a',
	);
	t.deepEqual([code, stderr], [0, '']);
	const { stdout } = await run(['audit', '--json', '--data-dir', dataDir]);
	t.like(JSON.parse(stdout), {
		...{ action: 'configure', outcome: 'ok', actor: 'administrator' },
		detail: 'dataDir, databaseUrl, registration: open, visitors: off',
	});
});

test('config init says that the audit log has no line of it where the data folder can’t be examined', async (t) => {
	const folder = await dataFolder(t);
	const dataDir = path.join(folder, 'data');
	await symlink(dataDir, dataDir);
	const { code, stderr } = await run(['config', 'init', path.join(folder, 'a.yaml'), '--yes', '--data-dir', dataDir]);
	t.is(code, 0, 'the file is written, and holds');
	t.regex(stderr, /The audit log has no line of this: ELOOP/);
});
