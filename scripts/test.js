import { rmSync, statSync } from 'node:fs';
import { chmod, mkdtemp, open, readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { thoroughTitles } from '../test/thorough.js';
import { buildBeside } from './build.js';
import { compile } from './compile.js';
import { ensureDebianPackages, linkPrograms } from './debian.js';
import { ensureInstalled } from './install.js';
import { chooseRooms } from './rooms.js';
import { Failed, root, run, tool } from './run.js';
import { runSuites } from './suites.js';
import { Times } from './times.js';

const isThorough = process.argv.includes('--thorough');
const { folders, rest } = await chooseRooms(process.argv.slice(2).filter((word) => word !== '--thorough'));
const isEveryday = !isThorough && folders.length === 0 && rest.length === 0;
const times = new Times();
await times.measure('packages', ensureInstalled);

const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-test-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const failedChecks = [];
// Side by side: each leaves processors unused for a part of its time. The checks cover all rooms, so a run of a single
// room does without them.
const ends = await times.measure('programs, build and checks', () =>
	Promise.allSettled([
		times.measure('programs', ensureDebianPackages),
		...(folders.length === 0 ? [buildAll(), checkSources()] : []),
	]),
);
// Once all have ended: what one of them has started would go on without this process.
const failures = ends.flatMap(({ status, reason }) => (status === 'rejected' ? [reason] : []));
for (const failure of failures) console.error(failure instanceof Failed ? failure.message : failure);
if (failures.length > 0) process.exit(1);

console.log('\n== tests');
// Programs are run by other users, too.
await chmod(folder, 0o755);
const programs = path.join(folder, 'programs');
const isLimited = await linkPrograms(programs);
const { passed, failed, lines, flaky, flakyLines, records } = await times.measure('tests', () =>
	runSuites({
		clone: root,
		args: [...folders, ...rest],
		// Names of files are compared; a new machine has no locale, in which Chromium gives a download another name.
		env: {
			...process.env,
			LC_ALL: 'C.UTF-8',
			...(isEveryday ? { TEST_EVERYDAY: 'yes' } : {}),
			...(isLimited ? { PATH: programs, TEST_PROGRAMS: programs } : {}),
		},
		records: path.join(folder, 'records'),
		isRetried,
		print: console.log,
	}),
);
// Repeated at the end, where they are found in a long log.
if (flaky.length > 0) console.log(`\n== failed at first, and passed alone\n${flakyLines.join('\n')}`);
if (failed > 0) console.log(`\n== failed\n${lines.join('\n')}`);
const unlisted = namesIn(records, 'unlisted');
if (unlisted.length > 0) {
	console.log('\n== programs that scripts/debian.js does not list, and that a new machine would not have');
	for (const line of unlisted) console.log(`not listed: ${line}`);
}
// Some tests name programs that are nowhere; what failed may have needed another.
if (failed > 0) for (const line of namesIn(records, 'missing')) console.log(`not found: ${line}`);
const closed = failed > 0 && process.getuid?.() === 0 ? closedFolders(root) : [];
if (closed.length > 0)
	console.log(`Tests that run as other users fail in this clone: ${closed.join(', ')} is closed to them.`);
if (failedChecks.length > 0) console.log(`\nFailed checks: ${failedChecks.join(', ')}`);
times.print(records);
console.log('');
if (isEveryday) console.log(`left to npm run test:thorough: ${thoroughTitles.length} tests`);
for (const one of flaky) console.log(`flaky: ${one}`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 || failedChecks.length > 0 || unlisted.length > 0 ? 1 : 0);

async function buildAll() {
	// Built first: the end-to-end tests use what a user gets.
	await times.measure('build', buildBeside);
	await times.measure('compile', compile);
	// It reads which modules what was built imports.
	await check('unused', 'knip/bin/knip.js', []);
}

async function checkSources() {
	await check('types', 'typescript/bin/tsc', ['--noEmit', '--project', 'tsconfig.json']);
	await check('declarations', 'typescript/bin/tsc', ['--build', 'config/tsconfig.build.json']);
	await check('lint', '@biomejs/biome/bin/biome', ['check', '--error-on-warnings', '.']);
}

/** Prints what a check says once it has ended, since others say something meanwhile. */
async function check(name, program, args) {
	const said = path.join(folder, `${name}.log`);
	const log = await open(said, 'w');
	const code = await times.measure(name, () =>
		run(process.execPath, [tool(program), ...args], { stdio: ['ignore', log.fd, log.fd] }),
	);
	await log.close();
	console.log(`\n== ${name}\n${await readFile(said, 'utf8')}`);
	if (code !== 0) failedChecks.push(name);
}

/** Tests with browsers and processes of their own depend on the machine's load; a unit test that fails once is wrong. */
function isRetried(file) {
	return ['test/', 'cli/test/', 'plugins/handbrake/test/', 'plugins/preview/test/', 'packages/core/test/proxies'].some(
		(beginning) => file.startsWith(beginning),
	);
}

/** The folders above and including this one that other users can't enter. */
function closedFolders(folder) {
	const above = path.dirname(folder) === folder ? [] : closedFolders(path.dirname(folder));
	return (statSync(folder).mode & 0o001) === 0 ? [...above, folder] : above;
}

function namesIn(records, kind) {
	const found = records.filter((one) => one.kind === kind);
	return [...new Set(found.map(({ program, by, file }) => `${program} (started by ${by ?? file})`))];
}
