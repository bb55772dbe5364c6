import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { execa } from 'execa';
import { memoryFolder } from '../memoryFolder.js';

export const clone = fileURLToPath(new URL('../../', import.meta.url.replace('/dist/', '/')));

/** What the last lines of a run are made of. */
interface Outcome {
	passed: number;
	failed: number;
	lines: string[];
	flaky: string[];
	flakyLines: string[];
	records: { kind: string; file: string; program?: string; by?: string }[];
}

/** Runs test files by the scripts of this clone, in a project of their own. Those below `e2e` get a second try. */
export async function runSuites(t: ExecutionContext, files: Readonly<Record<string, string>>, programs: string[] = []) {
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
		const options = { clone: process.cwd(), args: [], env, records: 'records', isRetried, maxRetried: 3, print: console.error };
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
export const hang = 'setInterval(() => {}, 1000); await new Promise(() => {})';

/** The body of a test that fails in the first process that runs it, and in each with `always`. */
export const failing = (name: string, always = false) => `
	const { appendFileSync, readFileSync } = await import('node:fs');
	appendFileSync('${name}', 'run ');
	${always ? '' : `if (readFileSync('${name}', 'utf8') === 'run ')`} t.fail();
	t.pass();
`;
