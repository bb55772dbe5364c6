import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './scripts/build.js';
import { compile } from './scripts/compile.js';
import { ensureInstalled } from './scripts/install.js';
import { importedTests, listSources } from './scripts/sources.js';
import { thoroughFiles, thoroughTitles } from './test/thorough.js';

const here = path.dirname(fileURLToPath(import.meta.url));
const folders = ['packages', 'plugins', 'cli', 'web', 'test'];
/** Their tests run the program or open the page, as they are shipped. */
const needProgram = ['cli', 'test'];
/** Started first, or one of them would run alone at the end. */
const longest = [
	'test/e2e/files',
	'test/e2e/previews',
	'test/e2e/uploads',
	'test/e2e/',
	'test/permissions',
	'test/parserCosts',
	'test/patterns',
	'test/archives',
	'test/packages',
	'cli/',
	'plugins/storage-local/test/storage',
	...['faults', 'losses', 'hostile'].map((name) => `plugins/handbrake/test/${name}`),
	'plugins/preview/test/hostile',
	'test/jobs',
	'test/crash',
	'test/memory',
	'packages/database',
	...['accounts', 'files', 'uploads', 'downloads', 'jobs', 'trash', 'server'].map(
		(name) => `packages/core/test/${name}.test`,
	),
	'test/',
	'plugins/',
	'packages/core/',
];

// A run of a single test file compiles the latest sources, too.
await ensureInstalled();
await compile();
const given = process.argv.slice(2).map((word) => path.relative(here, path.resolve(word)));
const chosen = given.map((word) => word.split(path.sep)[0]).filter((folder) => folders.includes(folder));
if (chosen.length === 0 || chosen.some((folder) => needProgram.includes(folder))) await build();

/** Files that another one imports run in its process, and run alone only if they were requested and it was not. */
const imported = await Promise.all(
	(await listSources(folders))
		.filter((file) => /\.test\.tsx?$/.test(file) && isAskedFor(file))
		.map((file) => importedTests(here, file)),
);

/** The run of each commit; a file that is asked for by its name runs whole. */
const isEveryday = process.env.TEST_EVERYDAY === 'yes';

function isAskedFor(file) {
	// Of a pattern the folder in which it begins.
	const asked = given
		.filter((word) => folders.includes(word.split(path.sep)[0]))
		.map((word) => word.replace(/[^/]*\*.*$/, ''));
	return asked.length === 0 || asked.some((word) => `${file}/`.startsWith(path.join(word, '/')));
}

function rankOf(file) {
	const at = longest.findIndex((beginning) => path.relative(here, file).startsWith(beginning));
	return at === -1 ? longest.length : at;
}

export default {
	files: [
		'packages/*/test/**/*.test.ts',
		'plugins/*/test/**/*.test.ts',
		'cli/test/**/*.test.ts',
		'web/test/**/*.test.{ts,tsx}',
		'test/**/*.test.ts',
		...imported.flat().map((file) => `!${file}`),
		...(isEveryday ? thoroughFiles.map((file) => `!${file}`) : []),
	],
	match: isEveryday ? thoroughTitles.map((title) => `!${title}`) : [],
	typescript: {
		extensions: ['ts', 'tsx'],
		compile: false,
		rewritePaths: Object.fromEntries(folders.map((folder) => [`${folder}/`, `dist/${folder}/`])),
	},
	// More than there are processors: for half of its time a file waits, for servers, browsers, disks and clocks.
	concurrency: os.availableParallelism() + 4,
	sortTestFiles: (a, b) => rankOf(a) - rankOf(b),
	require: process.env.TEST_RECORD === undefined ? [] : ['./scripts/record.js'],
	// Process-wide state is what many tests are about.
	workerThreads: false,
	// Only ends what hangs: how long a test takes says more about the machine than about the code.
	timeout: '15m',
};
