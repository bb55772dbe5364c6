import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { build } from './build.js';
import { compile } from './compile.js';
import { ensureDebianPackages } from './debian.js';
import { ensureInstalled } from './install.js';
import { chooseRooms } from './rooms.js';
import { root, run, tool } from './run.js';
import { countTap } from './tap.js';
import { Times } from './times.js';

const { folders, rest } = await chooseRooms(process.argv.slice(2));
const times = new Times();
await times.measure('packages and programs', async () => {
	await ensureInstalled();
	await ensureDebianPackages();
});

const checks = [
	['types', 'typescript/bin/tsc', ['--noEmit', '--project', 'tsconfig.json']],
	['lint', '@biomejs/biome/bin/biome', ['check', '--error-on-warnings', '.']],
	['unused', 'knip/bin/knip.js', []],
];
const failedChecks = [];
// The checks cover all rooms, so a run of a single room does without them.
if (folders.length === 0) {
	// Built first: the end-to-end tests use what a user gets, and the projects' own settings are stricter than the editor's.
	await times.measure('build', build);
	await times.measure('compile', compile);
	for (const [name, file, args] of checks) {
		console.log(`\n== ${name}`);
		const code = await times.measure(name, () => run(process.execPath, [tool(file), ...args]));
		if (code !== 0) failedChecks.push(name);
	}
}

console.log('\n== tests');
const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-test-'));
const usageFile = path.join(folder, 'usage');
const { passed, failed, failures, code } = await times.measure('tests', () => runAva([...folders, ...rest], usageFile));
// Repeated at the end, where they are found in a long log.
if (failed > 0) console.log(`\n== failed\n${failures.join('\n')}`);
else if (code !== 0)
	console.log(
		`\n== failed\nThe test runner itself ended with ${code}, after the tests above and what it wrote to stderr.`,
	);
if (failedChecks.length > 0) console.log(`\nFailed checks: ${failedChecks.join(', ')}`);
await times.print(usageFile);
await rm(folder, { recursive: true });
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(code !== 0 || failed > 0 || passed === 0 || failedChecks.length > 0 ? 1 : 0);

/** Runs the suites and counts from the runner's own report. */
async function runAva(args, usageFile) {
	const child = spawn(process.execPath, [tool('ava/entrypoints/cli.mjs'), '--tap', ...args], {
		cwd: root,
		env: { ...process.env, TEST_USAGE: usageFile },
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	const ended = new Promise((resolve) => child.on('close', resolve));
	const counts = await countTap(child.stdout);
	return { ...counts, code: await ended };
}
