import { readFile } from 'node:fs/promises';
import { serverFolders } from '@stowage/core';
import test, { type ExecutionContext } from 'ava';
import { isEveryday } from './everyday.js';
import { glob } from './glob.js';
import { costly } from './patterns/costly.js';
import { costOf, withoutCounts } from './patterns/costOf.js';
import { findPatterns } from './patterns/findPatterns.js';
import { findSlowLoops } from './patterns/slowLoops.js';

const sources = ['packages', 'plugins', 'cli', 'web'];

/** What is shipped, read once. The conformance suite runs in tests only. */
const shipped = (async () => {
	const folders = (await glob('.', /^src$/, sources)).filter((each) => !each.includes('conformance'));
	const files = await Promise.all(folders.map((folder) => glob(folder, /\.tsx?$/)));
	return Promise.all(files.flat().map(async (file) => ({ file, text: await readFile(file, 'utf8') })));
})();

/** Patterns of what is shipped, each once, with the places where it stands. */
async function shippedPatterns(): Promise<{ patterns: Map<string, Place>; refusals: string[] }> {
	const patterns = new Map<string, Place>();
	const refusals: string[] = [];
	for (const { file, text } of await shipped) {
		const found = findPatterns(file, text);
		for (const { line, source, flags } of found.patterns) {
			const key = `/${source}/${flags}`;
			patterns.set(key, { source, flags, at: [...(patterns.get(key)?.at ?? []), `${file}:${line}`] });
		}
		refusals.push(...found.refusals.map(({ line, reason }) => `${file}:${line}: a pattern ${reason}`));
	}
	return { patterns, refusals };
}

interface Place {
	source: string;
	flags: string;
	at: string[];
}

test('no pattern of the product takes longer than a time that grows with the text', async (t) => {
	const { patterns, refusals } = await shippedPatterns();
	t.true(patterns.size > 100, `only ${patterns.size} patterns were found`);
	const checked = [...patterns].filter(([pattern]) => !isEveryday || !costly.has(pattern));
	const gone = isEveryday ? [] : [...costly].filter((pattern) => !patterns.has(pattern));
	t.deepEqual(gone, [], 'These stand nowhere in the product.');
	const faults = await Promise.all(
		checked.map(async ([pattern, { source, flags, at }]) => {
			const cost = await costOf(source, flags);
			return cost === undefined ? [] : [`${at.join(', ')}: ${pattern} is ${cost}. Use a scanner.`];
		}),
	);
	t.deepEqual([...refusals, ...faults.flat()], []);
});

test('no loop of the product works on all that it has made so far for each further piece', async (t) => {
	const found: string[] = [];
	for (const { file, text } of await shipped)
		found.push(...findSlowLoops(text).map(({ line, advice }) => `${file}:${line}: ${advice}`));
	t.deepEqual(found, []);
});

test('what goes from the trash without an order goes by the way that names whose it was in the audit log', (t) =>
	callsOf(t, /\b(?:store|trash|versions)\.beginPurging\(/, [
		'packages/core/src/trees/trash/purging/PurgedRemoval.ts',
		'packages/core/src/trees/trash/purging/TrashPurge.ts',
		'packages/core/src/trees/trash/versions/Versions.ts',
	]));

test('for good is removed from the trash only what somebody has ordered, whose call is a line', (t) =>
	callsOf(t, /\b(?:bin|trash|purge)\.(?:purge|purgeOfEach|mark)\(/i, [
		'packages/core/src/accounts/removeUser.ts',
		'packages/core/src/files/audited/auditedTrash.ts',
		'packages/core/src/files/moveToTrash.ts',
		'packages/core/src/files/shared/sharedTrash.ts',
		'packages/core/src/files/trash.ts',
		'packages/core/src/files/versions.ts',
		'packages/core/src/routes/files/trash.ts',
		'packages/core/src/trees/trash/TrashBin.ts',
	]));

/** Asserts that a call stands in these files of the core only. */
async function callsOf(t: ExecutionContext, call: RegExp, files: readonly string[]): Promise<void> {
	const found = (await shipped).filter(({ file, text }) => file.startsWith('packages/core/') && call.test(text));
	t.deepEqual(found.map(({ file }) => file).sort(), files);
}

test('no storage root is added in a folder of the data folder that the server, or a plugin of its, keeps things in', async (t) => {
	const named = (await shipped).flatMap(({ text }) =>
		[...text.matchAll(/\bdataDir, '([\w-]+)'/g)].map(([, name]) => name),
	);
	t.true(named.length > 6, `${named}`);
	const reserved = serverFolders({ dataDir: '/data', databaseUrl: 'mysql://db/x' }).map(({ location }) => location);
	// The first storage root lies there.
	const others = new Set(named.filter((name) => name !== 'files' && !reserved.includes(`/data/${name}`)));
	t.deepEqual([...others], []);
});

/** A `Map` or `Set` of paths, of which there are few, or no two of one length. V8 compares long ones of one length with each other. */
const fewPaths: Readonly<Record<string, string>> = {
	'packages/core/src/files/watch.ts': 'The folders that one subscription watches, with one for each home.',
	'packages/core/src/trees/feeds/FolderFeeds.ts': 'Folders that pages show.',
	'packages/core/src/trees/feeds/MissingParents.ts': 'The same, and for a moment only.',
	'packages/core/src/trees/storage/folders.ts': 'The folders above one.',
	'packages/rules/src/names/paths.ts': 'Sixteen.',
};

test('paths of which there may be thousands are looked up in a PathMap or a PathSet', async (t) => {
	const found = (await shipped).filter(({ text }) => /\bnew (?:Map|Set)<StoragePath\b/.test(text));
	t.deepEqual(found.map(({ file }) => file).sort(), Object.keys(fewPaths));
});

const slowLoop = test.macro({
	exec: (t, code: string) => t.is(findSlowLoops(`a();\n${code}`)[0]?.line, 2),
	title: (_, code) => `refused in a loop: ${code}`,
});
test(slowLoop, 'segments.reduce<StoragePath>((parent, segment) => joinPath(parent, segment), root)');
test(slowLoop, 'folder = joinPath(folder, segment);');
test(slowLoop, 'days.set(file.day, [...(days.get(file.day) ?? []), file]);');
test(slowLoop, 'outer.set(owner, [...(outer.get(owner) ?? []), each]);');
test(
	slowLoop,
	'const ofOwner = outer.get(owner) ?? []; if (ofOwner.some(isAbove)) continue; outer.set(owner, [...ofOwner, each]);',
);
test(
	slowLoop,
	'const { count, paths } = found.get(part) ?? none; found.set(part, { count: count + 1, paths: [...paths, path] });',
);
test(slowLoop, "segments.map((_, index) => segments.slice(0, index).join('/'));");
test(slowLoop, "add(names.slice(0, level + 1).join('/'));");
test(slowLoop, 'names.flatMap((name, n) => folderOf(names.slice(0, n + 1)));');
test(slowLoop, 'for (const [index, name] of names.entries()) look(path.join(top, ...names.slice(0, index + 1)));');
test(slowLoop, 'for (let n = 1; n < names.length; n++) look(names.slice(0, n).join(separator));');
test(slowLoop, 'bytes = bytes.concat(chunk);');
test(slowLoop, 'found = [...found, each];');
test(slowLoop, 'names.reduce((all, name) => ({ ...all, [name]: 1 }), {});');

/** Libraries that read requests on the main thread. */
const requestReaders = [
	...['accept', 'ammo', 'call', 'content', 'hapi', 'inert', 'iron', 'mimos', 'statehood', 'subtext'].map(
		(name) => `node_modules/@hapi/${name}/lib`,
	),
	...['node_modules/busboy/lib', 'node_modules/streamsearch/lib'],
];

/** Slow patterns of theirs, and why nobody from outside has them read anything. */
const unreachable: Readonly<Record<string, string>> = {
	'@hapi/accept/lib/media.js': 'Only `Accept-Encoding` is read by it.',
	'@hapi/ammo/lib/index.js': 'Ranges are answered by the downloads themselves.',
	'@hapi/content/lib/index.js': 'Forms are read by busboy.',
	'@hapi/hapi/lib/auth.js': 'No route has scopes of its parameters.',
	'@hapi/hapi/lib/cors.js': 'It is off.',
	'@hapi/hapi/lib/response.js':
		'`collapseBlanks` has made `If-None-Match` short; the other one reads answers of proxied servers.',
	'@hapi/statehood/lib/index.js': '`keepOwnCookies` leaves cookies that match it, and no header has an end of a line.',
};

test('no further pattern of what reads requests takes longer than a time that grows with the text', async (t) => {
	const slowOf = async (file: string) => {
		const { patterns } = findPatterns(file, await readFile(file, 'utf8'));
		const costs = await Promise.all(patterns.map(({ source, flags }) => costOf(source, flags)));
		return costs.some((cost) => cost !== undefined) ? [file.replace('node_modules/', '')] : [];
	};
	const files = await Promise.all(requestReaders.map((folder) => glob(folder, /\.js$/)));
	const found = await Promise.all(files.flat().map(slowOf));
	t.deepEqual(found.flat().toSorted(), Object.keys(unreachable).toSorted());
});

const slow = test.macro({
	exec: async (t, pattern: RegExp) => t.not(await costOf(pattern.source, pattern.flags), undefined),
	title: (_, pattern) => `the pattern ${pattern} is found to be slow`,
});
// These stood in the product.
test(slow, /^(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*)*<(smil|MPD|asx|playlist)\b/i);
test(slow, /\/+$/);
test(slow, /<\/?font[^>]*>|\{\\an?\d\}/gi);
test(slow, /\bVersion\/[\d.]+ .*\bSafari\//);
test(slow, /^[-+−(]?\s*[$€£¥]?\s*\d[\d.,'\s]*\s*[%€$£)]?$/);
// A look-ahead can't be decided.
test(slow, /^(?:(?!a|b)\w+)*$/);

const quick = test.macro({
	exec: async (t, pattern: RegExp) => t.is(await costOf(pattern.source, pattern.flags), undefined),
	title: (_, pattern) => `the pattern ${pattern} is found to be quick`,
});
test(quick, /^(\d+(?:\.\d+)?)\s*([kmgt]?b)?$/i);
test(quick, /<\/?font[^<>]*>|\{\\an?\d\}/gi);
test(quick, /^[\x21-\x7e]{22,200}$/);

test('a counted repetition is checked as an endless one', (t) => {
	t.is(withoutCounts('a{32}[b{9}]{22,200}\\{9}\\p{L}{5,}c{2,4}'), 'a{2,}[b{9}]{2,}\\{9}\\p{L}{2,}c{2,4}');
});

const found = (code: string) => findPatterns('a.ts', code);

test('patterns are found wherever they stand', (t) => {
	const code = `f(/a/g, [/b/]);
		const d = 'd';
		const c = new RegExp('c' + \`\${d}\`, 'u'), e = RegExp(String.raw\`\\d\`);
		x?.match('f'); x.matchAll(/g/g); server.match(a, b);`;
	t.deepEqual(found(code), {
		patterns: [
			{ line: 1, source: 'a', flags: 'g' },
			{ line: 1, source: 'b', flags: '' },
			{ line: 3, source: 'cd', flags: 'u' },
			{ line: 3, source: '\\d', flags: '' },
			{ line: 4, source: 'f', flags: '' },
			{ line: 4, source: 'g', flags: 'g' },
		],
		refusals: [],
	});
});

test('a pattern of a text that is not constant is refused unless the text is escaped', (t) => {
	t.deepEqual(found(`new RegExp('^' + RegExp.escape(name) + '$', 'i')`).patterns, [
		{ line: 1, source: '^x$', flags: 'i' },
	]);
	for (const code of [
		'new RegExp(name)',
		`RegExp(\`^\${name}\`)`,
		"new RegExp('a', flags)",
		'const R = RegExp; new R(name)',
		'new globalThis.RegExp(name)',
		`text.match(\`\${name}\`)`,
		"text.search('^' + name)",
	]) {
		t.is(found(code).refusals.length, 1, code);
	}
	t.deepEqual(found('const isPattern = (x: unknown): x is RegExp => x instanceof RegExp;').refusals, []);
});
