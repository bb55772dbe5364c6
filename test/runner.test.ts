import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { execa } from 'execa';
import { atMost } from './atMost.js';
import { memoryFolder } from './memoryFolder.js';

// Each starts several processes.
atMost(3);

const clone = fileURLToPath(new URL('../', import.meta.url.replace('/dist/', '/')));

/** What the last lines of a run are made of. */
interface Outcome {
	passed: number;
	failed: number;
	lines: string[];
	flaky: string[];
	records: { kind: string; file: string; program?: string; by?: string }[];
}

/** Runs test files by the scripts of this clone, in a project of their own. Those below `e2e` get a second try. */
async function runSuites(t: ExecutionContext, files: Readonly<Record<string, string>>, programs: string[] = []) {
	const folder = await memoryFolder(t, 1);
	for (const [name, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...files })) {
		await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
		const head = name.endsWith('.test.js') && !/^import '/.test(text) ? "import test from 'ava';\n" : '';
		await writeFile(path.join(folder, name), head + text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
	}
	await symlink(path.join(clone, 'node_modules'), path.join(folder, 'node_modules'));
	const config = {
		files: ['{e2e,units}/*.test.js'],
		require: [path.join(clone, 'scripts/record.js')],
		timeout: JSON.stringify(files).includes(hang) ? '15s' : '5m',
		workerThreads: false,
	};
	await writeFile(path.join(folder, 'ava.config.js'), `export default ${JSON.stringify(config)};`);
	const links = path.join(folder, 'programs');
	await mkdir(links);
	for (const name of ['sh', ...programs]) await symlink(`/bin/${name}`, path.join(links, name));
	const script = `
		import { runSuites } from '${path.join(clone, 'scripts/suites.js')}';
		const env = { ...process.env, PATH: '${links}', TEST_PROGRAMS: '${links}' };
		const isRetried = (file) => file.startsWith('e2e/');
		const options = { clone: process.cwd(), args: [], env, records: 'records', isRetried, mostRetried: 3, print: console.error };
		console.log(JSON.stringify(await runSuites(options)));
	`;
	const { stdout } = await execa(process.execPath, ['--input-type=module', '-e', script], {
		cwd: folder,
		// Of this test process, not of the one that it starts.
		env: { NODE_OPTIONS: '', AVA_PATH: undefined, TEST_RECORD: undefined },
	});
	return { folder, ...(JSON.parse(stdout) as Outcome) };
}

/** Ended by the runner. */
const hang = 'setInterval(() => {}, 1000); await new Promise(() => {})';

/** The body of a test that fails in the first process that runs it, and in each with `always`. */
const failing = (name: string, always = false) => `
	const { appendFileSync, readFileSync } = await import('node:fs');
	appendFileSync('${name}', 'run ');
	${always ? '' : `if (readFileSync('${name}', 'utf8') === 'run ')`} t.fail();
	t.pass();
`;

test('a test with processes of its own that fails once is run again, counts as passed and is named as flaky', async (t) => {
	const found = await runSuites(t, {
		'e2e/a.test.js': `test('is steady', (t) => t.pass()); test('depends on the load', async (t) => {${failing('once')}});`,
		'units/b.test.js': "test('adds', (t) => t.is(1 + 1, 2));",
	});
	t.deepEqual(found.lines, []);
	t.like(found, { passed: 3, failed: 0, flaky: ['e2e/a.test.js: depends on the load'] });
});

test('a test that fails twice fails, and counts once', async (t) => {
	const found = await runSuites(t, {
		'e2e/a.test.js': `test('is steady', (t) => t.pass()); test('is broken', async (t) => {${failing('twice', true)}});`,
	});
	t.like(found, { passed: 1, failed: 1, flaky: [] });
	t.regex(found.lines[0] ?? '', /✗ is broken/);
	t.is(await readFile(path.join(found.folder, 'twice'), 'utf8'), 'run run ');
});

test('a unit test gets no second try', async (t) => {
	const found = await runSuites(t, {
		'units/a.test.js': `test('is wrong', async (t) => {${failing('once')}});`,
		'e2e/b.test.js': "test('works', (t) => t.pass());",
	});
	t.like(found, { passed: 1, failed: 1, flaky: [] });
	t.is(await readFile(path.join(found.folder, 'once'), 'utf8'), 'run ');
});

test('of a file that only imports others, the one with the failed test is run again', async (t) => {
	const found = await runSuites(t, {
		'e2e/all.test.js': "import './parts/first.test.js';\nimport './parts/second.test.js';\n",
		'e2e/parts/first.test.js': `test('is steady', async (t) => {${failing('first')}});`.replace('t.fail()', 't.pass()'),
		'e2e/parts/second.test.js': `test('depends on the load', async (t) => {${failing('second')}});`,
		'e2e/other.test.js': "test('works', (t) => t.pass());",
	});
	t.like(found, { passed: 3, failed: 0, flaky: ['e2e/parts/second.test.js: depends on the load'] });
	t.is(await readFile(path.join(found.folder, 'first'), 'utf8'), 'run ', 'the other one is not');
});

for (const [how, crash] of [
	['exits', 'process.exit(3)'],
	['hangs', hang],
	['is killed', "process.kill(process.pid, 'SIGKILL')"],
	[
		'throws outside of its tests',
		"setImmediate(() => { throw new Error('a stray error'); }); await new Promise(() => {})",
	],
] as const) {
	const suites = (name: string, always: boolean) => ({
		'e2e/a.test.js': `test('is steady', (t) => t.pass()); test('ends its process', async (t) => {${failing(name, always).replace('t.fail()', `{ ${crash}; }`)}});`,
		'units/b.test.js': "test('adds', (t) => t.is(1 + 1, 2));",
	});

	test(`a file whose process ${how} is run again, and each of its tests counts once`, async (t) => {
		const found = await runSuites(t, suites('once', false));
		t.deepEqual(found.lines, []);
		t.like(found, { passed: 3, failed: 0 });
		t.true(found.flaky.length > 0);
		for (const line of found.flaky) t.regex(line, /^e2e\/a\.test\.js: /);
	});

	if (how !== 'exits' && how !== 'throws outside of its tests') continue;

	test(`a file whose process ${how} twice fails`, async (t) => {
		const found = await runSuites(t, suites('twice', true));
		t.true(found.failed > 0);
		t.deepEqual(found.flaky, []);
		t.is(await readFile(path.join(found.folder, 'twice'), 'utf8'), 'run run ');
	});
}

test('a run whose runner is killed fails, whatever its files did, since others may not have run', async (t) => {
	const crash = 'process.kill(process.ppid, "SIGKILL")';
	const found = await runSuites(t, {
		'e2e/a.test.js': `test('ends the runner', async (t) => {${failing('once').replace('t.fail()', `{ ${crash}; }`)}});`,
		'units/b.test.js': "test('adds', (t) => t.is(1 + 1, 2));",
	});
	t.true(found.failed > 0);
	t.true(found.lines.some((line) => line.includes('The test runner itself ended')));
});

test('where many files fail none is run again', async (t) => {
	const names = Array.from({ length: 4 }, (_, number) => `e2e/${number}.test.js`);
	const files = names.map((name) => [name, "test('is broken', (t) => t.fail());"]);
	const { passed, failed, records } = await runSuites(t, Object.fromEntries(files));
	t.deepEqual([passed, failed], [0, 4]);
	t.is(records.filter(({ kind }) => kind === 'began').length, 4);
});

test('a failed hook of a file fails the run, unless the second try is without failures', async (t) => {
	const hook = (always: boolean) => ({
		'e2e/a.test.js': `test.before(async (t) => {${failing('hook', always)}}); test('works', (t) => t.pass());`,
		'units/b.test.js': "test('adds', (t) => t.is(1 + 1, 2));",
	});
	t.like(await runSuites(t, hook(false)), { passed: 2, failed: 0 });
	t.like(await runSuites(t, hook(true)), { passed: 1, failed: 1 });
});

test('a program that a test starts and no list has is recorded with the test, by whichever call and also by its path', async (t) => {
	const found = await runSuites(
		t,
		{
			'units/a.test.js': `
				import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
				test('starts programs', async (t) => {
					const end = (child) => new Promise((resolve) => child.on('error', resolve).on('exit', resolve));
					await end(spawn('true'));
					await end(spawn('/bin/cat', { stdio: 'ignore' }));
					await end(execFile('uname'));
					t.throws(() => execFileSync('sort'));
					spawnSync('/bin/date');
					spawnSync('no-such-program');
					await end(spawn('own', { cwd: import.meta.dirname, env: { PATH: import.meta.dirname } }));
					await end(spawn(process.execPath, ['--version']));
				});
			`,
			'units/own': '#!/bin/sh\n',
		},
		['true'],
	);
	t.deepEqual(found.lines, []);
	const programs = (kind: string) => found.records.filter((one) => one.kind === kind).map(({ program }) => program);
	t.deepEqual(programs('unlisted'), ['/bin/cat', 'uname', 'sort', '/bin/date']);
	t.deepEqual(programs('missing'), ['no-such-program']);
	t.is(found.records.find(({ kind }) => kind === 'unlisted')?.by?.endsWith('units/a.test.js'), true);
});

test('the programs of a run are those of the list and of required packages, and no others of this machine', async (t) => {
	const folder = path.join(await memoryFolder(t, 1), 'programs');
	const script = `import { linkPrograms } from '${path.join(clone, 'scripts/debian.js')}'; await linkPrograms('${folder}');`;
	await execa(process.execPath, ['--input-type=module', '-e', script]);
	const names = await readdir(folder);
	for (const name of ['node', 'npm', 'sh', 'mount', 'perl', 'fail2ban-regex', 'nginx'])
		t.true(names.includes(name), name);
	// Important, but not required, and a part of a listed program's package.
	for (const name of ['ps', 'ip', 'mariadb', 'fail2ban-server']) t.false(names.includes(name), name);
});
