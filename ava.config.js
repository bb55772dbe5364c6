import { readFile } from 'node:fs/promises';
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
	'test/e2e/files',
	'test/e2e/previews',
	'test/e2e/uploads',
	'test/e2e/',
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
const given = process.argv.slice(2).map((word) => path.relative(here, path.resolve(word)));
const chosen = given.map((word) => word.split(path.sep)[0]).filter((folder) => folders.includes(folder));
if (chosen.length === 0 || chosen.some((folder) => needProgram.includes(folder))) await build();

/** Test files that another one imports, so that they share its process. Each runs alone if it or its folder was asked for. */
const imported = await Promise.all(
	['files', 'frame', 'jobs', 'previews', 'sharing', 'uploads'].map(async (name) => {
		const text = await readFile(path.join(here, 'test/e2e', `${name}.test.ts`), 'utf8');
		const files = Array.from(text.matchAll(/^import '(.+)\.js';$/gm), ([, file]) =>
			path.join('test/e2e', `${file}.ts`),
		);
		return given.some((word) => path.join(word, '/').startsWith(path.join('test/e2e', name, '/'))) ? [] : files;
	}),
);

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
