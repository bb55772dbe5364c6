import { spawn } from 'node:child_process';
import { build } from './build.js';
import { ensureDebianPackages } from './debian.js';
import { ensureInstalled } from './install.js';
import { root, run, tool } from './run.js';
import { countTap } from './tap.js';

await ensureInstalled();
await ensureDebianPackages();

// Built first: the end-to-end tests use what a user gets, and the projects' own settings are stricter than the editor's.
await build();
const checks = [
	['types', 'typescript/bin/tsc', ['--noEmit', '--project', 'tsconfig.json']],
	['lint', '@biomejs/biome/bin/biome', ['check', '--error-on-warnings', '.']],
	['unused', 'knip/bin/knip.js', []],
];
const failedChecks = [];
for (const [name, file, args] of checks) {
	console.log(`\n== ${name}`);
	if ((await run(process.execPath, [tool(file), ...args])) !== 0) failedChecks.push(name);
}

console.log('\n== tests');
const { passed, failed, failures, code } = await runAva(process.argv.slice(2));
// Again, where a reader of a long log looks first.
if (failed > 0) console.log(`\n== failed\n${failures.join('\n')}`);
else if (code !== 0)
	console.log(
		`\n== failed\nThe test runner itself ended with ${code}, after the tests above and what it wrote to stderr.`,
	);
if (failedChecks.length > 0) console.log(`\nFailed checks: ${failedChecks.join(', ')}`);
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(code !== 0 || failed > 0 || passed === 0 || failedChecks.length > 0 ? 1 : 0);

/** Runs all suites and counts from the runner's own report. */
async function runAva(args) {
	const child = spawn(process.execPath, [tool('ava/entrypoints/cli.mjs'), '--tap', ...args], {
		cwd: root,
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	const ended = new Promise((resolve) => child.on('close', resolve));
	const counts = await countTap(child.stdout);
	return { ...counts, code: await ended };
}
