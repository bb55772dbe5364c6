import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
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

/** Some scripts of this clone in a clone of their own, with other texts for some of their files. */
async function scriptsClone(t: ExecutionContext, scripts: readonly string[], files: Readonly<Record<string, string>>) {
	const folder = await memoryFolder(t, 1);
	await mkdir(path.join(folder, 'scripts'));
	for (const name of scripts) await cp(path.join(clone, 'scripts', name), path.join(folder, 'scripts', name));
	for (const [name, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...files })) {
		await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
		await writeFile(path.join(folder, name), text);
	}
	return folder;
}

/** Runs a module with the scripts of a clone. */
const runScript = (folder: string, script: string) =>
	execa(process.execPath, ['--input-type=module', '-e', script], { cwd: folder, reject: false });

test('a page with faults ends a build once the server is built, which is not built again', async (t) => {
	const folder = await scriptsClone(t, ['build.js', 'lock.js', 'run.js', 'sources.js', 'stale.js'], {
		'scripts/bundle.js': `
			import { mkdir, writeFile } from 'node:fs/promises';
			import { setTimeout } from 'node:timers/promises';
			export const serverPackages = async () => ['cli'];
			export async function bundleServer() {
				await setTimeout(1000);
				await mkdir('cli/dist');
				await writeFile('cli/dist/main.js', 'built');
			}`,
		'node_modules/vite/bin/vite.js': 'console.error("a fault"); process.exit(3);',
		...Object.fromEntries(
			[
				'scripts/thirdParties.js',
				'package-lock.json',
				...['packages', 'plugins', 'cli', 'web'].map((name) => `${name}/a`),
			].map((name) => [name, '']),
		),
		...Object.fromEntries(['rules', 'contract'].map((name) => [`packages/${name}/a`, ''])),
	});
	const first = await runScript(folder, "await (await import('./scripts/build.js')).build();");
	t.is(first.exitCode, 3);
	t.regex(first.stderr, /a fault/);
	t.is(await readFile(path.join(folder, 'cli/dist/main.js'), 'utf8'), 'built');
	t.deepEqual(await readdir(path.join(folder, 'node_modules')), ['.stowage-build.json', 'vite'], 'without a lock');
	const second = await runScript(folder, "await (await import('./scripts/build.js')).build();");
	t.is(second.exitCode, 3);
	t.notRegex(second.stderr, /Building the server/);
});

test('a run that lacks programs, or whose page has faults, ends once what it does beside has ended', async (t) => {
	const { Failed } = (await import(path.join(clone, 'scripts/run.js'))) as { Failed: unknown };
	const later = (name: string, text: string) => `export const ${name} = async () => { ${text} };`;
	const ending = (name: string, file: string) => `
		import { writeFile } from 'node:fs/promises';
		import { setTimeout } from 'node:timers/promises';
		${later(name, `await setTimeout(1000); await writeFile('${file}', '');`)}`;
	const debian = await readFile(path.join(clone, 'scripts/debian.js'), 'utf8');
	const common = {
		'test/thorough.js': 'export const thoroughTitles = [];',
		'scripts/rooms.js': later('chooseRooms', 'return { folders: [], rest: [] };'),
		'scripts/times.js': 'export class Times { measure(name, work) { return work(); } print() {} }',
		'scripts/install.js': later('ensureInstalled', ''),
		'scripts/suites.js': later('runSuites', 'throw new Error();'),
		'scripts/compile.js': later('compile', ''),
		'scripts/run.js': `export ${Failed}; export const root = '.'; export const tool = (file) => file; ${later('run', 'return 0;')}`,
	};
	const lacking = await scriptsClone(t, ['test.js'], {
		...common,
		'scripts/debian.js': debian.replace("zip: 'zip'", "'no-such-program': 'no-such-package'"),
		'scripts/build.js': ending('buildBeside', 'built'),
	});
	const faulty = await scriptsClone(t, ['test.js'], {
		...common,
		'scripts/debian.js': `${ending('ensureDebianPackages', 'installed')}; export const linkPrograms = undefined;`,
		'scripts/build.js': `import { Failed } from './run.js'; ${later('buildBeside', "throw new Failed('A fault.', 3);")}`,
	});
	for (const [folder, file, said] of [
		[lacking, 'built', /none is skipped: no-such-package/],
		[faulty, 'installed', /^A fault\.$/m],
	] as const) {
		const { exitCode, stderr } = await runScript(folder, "await import('./scripts/test.js')");
		t.is(exitCode, 1);
		t.regex(stderr, said);
		t.true((await readdir(folder)).includes(file), file);
	}
});
