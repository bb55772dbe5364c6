import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { execa } from 'execa';
import { atMost } from './atMost.js';
import { memoryFolder } from './memoryFolder.js';
import { clone, failing, runSuites } from './runner/project.js';

// Each starts several processes. What else can happen to a run is in runner/runner.long.ts.
atMost(3);

test('a test with processes of its own that fails once is run again, counts as passed and is named as flaky', async (t) => {
	const found = await runSuites(t, {
		'e2e/a.test.js': `test('is steady', (t) => t.pass()); test('depends on the load', async (t) => {${failing('once')}});`,
		'units/b.test.js': "test('adds', (t) => t.is(1 + 1, 2));",
	});
	t.deepEqual(found.lines, []);
	t.like(found, { passed: 3, failed: 0, flaky: ['e2e/a.test.js: depends on the load'] });
	t.regex(found.flakyLines[0] ?? '', /✗ .*depends on the load/);
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

test('a run whose runner is killed fails, whatever its files did, since others may not have run', async (t) => {
	const crash = 'process.kill(process.ppid, "SIGKILL")';
	const found = await runSuites(t, {
		'e2e/a.test.js': `test('ends the runner', async (t) => {${failing('once').replace('t.fail()', `{ ${crash}; }`)}});`,
		'units/b.test.js': "test('adds', (t) => t.is(1 + 1, 2));",
	});
	t.true(found.failed > 0);
	t.true(found.lines.some((line) => line.includes('The test runner itself ended')));
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
