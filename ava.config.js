import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './scripts/build.js';
import { compile } from './scripts/compile.js';
import { ensureInstalled } from './scripts/install.js';

const here = path.dirname(fileURLToPath(import.meta.url));
const folders = ['packages', 'plugins', 'cli', 'web', 'test'];
/** Their tests run the program or show the page, as they are shipped. */
const needProgram = ['cli', 'test'];
/** Begun first, or a processor would be left alone with one of them at the end. */
const longest = [
	'test/archives',
	'cli/',
	'test/crash',
	'test/memory',
	'packages/database',
	'test/',
	'plugins/',
	'packages/core/',
];

// Whoever runs a single test file runs what they have just written, too.
await ensureInstalled();
await compile();
const chosen = process.argv
	.slice(2)
	.map((word) => path.relative(here, path.resolve(word)).split(path.sep)[0])
	.filter((folder) => folders.includes(folder));
if (chosen.length === 0 || chosen.some((folder) => needProgram.includes(folder))) await build();

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
	],
	typescript: {
		extensions: ['ts', 'tsx'],
		compile: false,
		rewritePaths: Object.fromEntries(folders.map((folder) => [`${folder}/`, `dist/${folder}/`])),
	},
	// More than there are processors: servers and browsers are waited for much of the time.
	concurrency: os.availableParallelism() + 2,
	sortTestFiles: (a, b) => rankOf(a) - rankOf(b),
	require: process.env.TEST_USAGE === undefined ? [] : ['./scripts/usage.js'],
	// Process-wide state is what many tests are about.
	workerThreads: false,
	// Only ends what hangs: how long a test takes says more about the machine than about us.
	timeout: '15m',
};
