import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { atMost } from '../atMost.js';
import { failing, hang, runSuites } from './project.js';

// Each starts several processes.
atMost(3);

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

test('an error without a stack frame is printed, and the tests after it run', async (t) => {
	const thrown = (text: string) => `throw Object.assign(new Error('${text}'), { stack: 'Error: ${text}' });`;
	const found = await runSuites(t, {
		'units/a.test.js': `test('throws', () => {${thrown('within')}}); test('works', (t) => t.pass());`,
		'units/b.test.js': `test('waits', async () => { setImmediate(() => {${thrown('astray')}}); await new Promise(() => {}); });`,
	});
	t.is(found.passed, 1);
	const printed = found.lines.join(' ');
	for (const part of ['within', 'astray']) t.true(printed.includes(part), `${part}: ${printed}`);
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
