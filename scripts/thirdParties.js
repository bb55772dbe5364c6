import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { root } from './run.js';

/**
 * The third-party packages that the server imports. Each test process would otherwise read and resolve some 700 files
 * of them one by one.
 */
const specifiers = [
	'@hapi/boom',
	'@hapi/hapi',
	'@hapi/hapi/lib/config.js',
	'@hapi/inert',
	'@hapi/iron',
	'busboy',
	'commander',
	'import-meta-resolve',
	'knex',
	'knex/lib/dialects/better-sqlite3/index.js',
	'knex/lib/dialects/mysql2/index.js',
	'knex/lib/util/timeout.js',
	'pino',
	'yaml',
	'zod',
];

/** Native modules cannot be in a bundle, nor drivers that knex only names. */
const external = [
	'@node-rs/argon2',
	'koffi',
	'libheif-js',
	'libsql',
	'mysql',
	'mysql2',
	'mysql2/*',
	'mariadb/*',
	'better-sqlite3',
	'sharp',
	'sqlite3',
	'pg',
	'pg-*',
	'oracledb',
	'tedious',
];

/** knex is given its dialect as a class. By name it could load each of ten, which would all be in the file that has knex. */
const knexWithoutDialects = {
	name: 'knex without dialects',
	setup(own) {
		own.onResolve({ filter: /^\.\.\/\.\.\/dialects$/ }, ({ path: name, importer }) =>
			importer.endsWith('/knex/lib/knex-builder/internal/config-resolver.js')
				? { path: name, namespace: 'no dialects' }
				: undefined,
		);
		own.onLoad({ filter: /.*/, namespace: 'no dialects' }, () => ({ contents: 'export {};' }));
	},
};

/** zod's sentences in fifty languages are a tenth of all that the server would read and compile when it starts; it says its own. */
const zodInEnglish = {
	name: 'zod in English',
	setup(own) {
		own.onResolve({ filter: /^\.\.\/locales\/index\.js$/ }, ({ path: name, importer }) =>
			importer.includes('/zod/') ? { path: name, namespace: 'no locales' } : undefined,
		);
		own.onLoad({ filter: /.*/, namespace: 'no locales' }, () => ({ contents: 'export {};' }));
	},
};

/** What hapi requires for servers by TLS and for bodies that it reads itself, by the package that requires it: loaded when it is used. */
const lazyRequires = { '/@hapi/hapi/lib/core.js': /^https$/, '/@hapi/subtext/lib/index.js': /^@hapi\/wreck$/ };

const loadedOnUse = {
	name: 'loaded on use',
	setup(own) {
		own.onResolve({ filter: /^(https|@hapi\/wreck)$/ }, ({ path: name, importer, resolveDir }) => {
			const isLazy = Object.entries(lazyRequires).some(([file, names]) => importer.endsWith(file) && names.test(name));
			return isLazy ? { path: name, namespace: 'loaded on use', pluginData: resolveDir } : undefined;
		});
		own.onLoad({ filter: /.*/, namespace: 'loaded on use' }, ({ path: name, pluginData: resolveDir }) => ({
			contents: `module.exports = new Proxy({}, { get: (_, key) => require(${JSON.stringify(name)})[key] });`,
			resolveDir,
		}));
	},
};

/**
 * Native packages, which are CommonJS. Node finds out what one that is imported exports by a parser, compiled from
 * WebAssembly, that is 8 % of what a short command costs; one that is required says it itself.
 */
const requiredPackages = {
	name: 'required packages',
	setup(own) {
		own.onResolve({ filter: /^(koffi|libsql|libsql\/promise)$/ }, ({ path: name, kind }) =>
			kind.endsWith('import') || kind === 'import-statement' ? { path: name, namespace: 'required' } : undefined,
		);
		own.onLoad({ filter: /.*/, namespace: 'required' }, ({ path: name }) => ({
			contents: `module.exports = require(${JSON.stringify(name)});`,
		}));
	},
};

/** How all bundles of the server are made. */
export const bundling = {
	bundle: true,
	platform: 'node',
	format: 'esm',
	target: 'node20',
	external,
	logLevel: 'warning',
	plugins: [knexWithoutDialects, zodInEnglish, loadedOnUse, requiredPackages],
	// Many third parties are CommonJS.
	banner: {
		js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
	},
};

/**
 * A run of the tests starts a thousand servers with the same hundred routes, and a third of each start is that hapi checks their settings
 * and copies them five times. For tests it checks those of a route once in a process, if that changes nothing in them, and copies them once.
 */
const hapiPatches = {
	'/@hapi/hapi/lib/config.js': [
		'const result = internals[type].validate(options);',
		`const name = type === 'route' || type === 'routeConfig' ? [type, ...message].join(' ') : undefined;
		if (name !== undefined && checked.has(name)) return options;
		const result = internals[type].validate(options);
		if (name !== undefined && !result.error && require('util').isDeepStrictEqual(result.value, options)) checked.add(name);`,
		'const checked = new Set();',
	],
	'/@hapi/hapi/lib/route.js': [
		'for (const item of chain) {',
		`const added = chain.slice(1).filter((each) => Object.keys(each).length > 0);
		for (const item of added.length > 0 ? added : [config]) {`,
		'',
	],
};

const routesCheckedOnce = {
	name: 'routes checked once',
	setup(own) {
		own.onLoad({ filter: /@hapi.hapi.lib.(config|route)\.js$/ }, async ({ path: file }) => {
			const [before, after, first] = hapiPatches[file.slice(file.lastIndexOf('/@hapi/'))];
			const contents = await readFile(file, 'utf8');
			if (!contents.includes(before)) throw new Error(`${file} has no ${before}`);
			return { contents: `${first}${contents.replace(before, after)}` };
		});
	},
};

/** Writes these packages into `folder`, a folder of packages, as few files; shared modules are written once. */
export async function bundleThirdParties(folder) {
	const { build } = await import('esbuild');
	const stubs = new Map();
	for (const specifier of specifiers) stubs.set(outputOf(specifier), await reexport(specifier));
	await build({
		entryPoints: [...stubs.keys()].map((name) => ({ in: `stub:${name}`, out: name })),
		...bundling,
		outdir: folder,
		chunkNames: '.shared/[name]-[hash]',
		splitting: true,
		plugins: [
			...bundling.plugins,
			routesCheckedOnce,
			{
				name: 'stubs',
				setup(own) {
					own.onResolve({ filter: /^stub:/ }, ({ path: name }) => ({
						path: `${name.slice(5)}.mjs`,
						namespace: 'stub',
					}));
					own.onLoad({ filter: /.*/, namespace: 'stub' }, ({ path: name }) => ({
						contents: stubs.get(name.slice(0, -'.mjs'.length)),
						resolveDir: root,
					}));
				},
			},
		],
	});
	const manifest = JSON.stringify({ type: 'module', main: 'index.js' });
	for (const name of new Set(specifiers.map(packageOf))) {
		await mkdir(path.join(folder, name), { recursive: true });
		await writeFile(path.join(folder, name, 'package.json'), manifest);
	}
}

/** A module with the same exports as the package has in Node, which detects those of CommonJS by parsing the source. */
async function reexport(specifier) {
	const from = JSON.stringify(specifier);
	const module = await import(specifier);
	const names = Object.keys(module).filter((name) => name !== 'default' && name !== 'module.exports');
	if (module.default === undefined) return `export * from ${from};`;
	if (names.some((name) => module[name] !== module.default[name]))
		return `export * from ${from}; export { default } from ${from};`;
	return `import whole from ${from}; export default whole; export const { ${names.join(', ')} } = whole;`;
}

function packageOf(specifier) {
	return specifier
		.split('/')
		.slice(0, specifier.startsWith('@') ? 2 : 1)
		.join('/');
}

function outputOf(specifier) {
	return specifier === packageOf(specifier) ? `${specifier}/index` : specifier.replace(/\.js$/, '');
}
