import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { glob } from './glob.js';

/** Which folder may import which packages. A room is the folder that a file lies in; imports that are not listed here are refused. */
interface Room {
	/** Packages of this repository and of others; `node:` stands for all modules of Node. Types only where the name begins with `type `. */
	may: readonly string[];
}

const purePackages = ['@stowage/rules', '@stowage/contract'];
const forPlugins = [...purePackages, '@stowage/plugin-api'];

const rooms: Readonly<Record<string, Room>> = {
	'packages/rules/src': { may: [] },
	'packages/contract/src': { may: ['@stowage/rules', 'zod'] },
	'packages/plugin-api/src': { may: [...purePackages, 'koffi', 'zod', 'node:', 'type @hapi/hapi'] },
	'packages/conformance/src': { may: [...forPlugins, 'node:', 'type ava'] },
	'packages/database/src': { may: ['@stowage/rules', 'type @stowage/plugin-api', 'knex', 'libsql', 'mysql2', 'node:'] },
	'packages/core/src': {
		may: [
			...forPlugins,
			'@stowage/database',
			'@hapi/',
			'busboy',
			'import-meta-resolve',
			'otpauth',
			'pino',
			'tinyqueue',
			'yaml',
			'zod',
			'node:',
		],
	},
	'plugins/storage-local/src': { may: [...forPlugins, 'koffi', 'node:'] },
	'plugins/auth-password/src': { may: [...forPlugins, '@node-rs/argon2', 'node:'] },
	'plugins/handbrake/src': { may: [...forPlugins, 'execa', 'node:'] },
	'plugins/preview/src': { may: [...forPlugins, 'sharp', 'libheif-js', 'node:'] },
	'plugins/zip/src': { may: [...forPlugins, 'node:'] },
	'cli/src': {
		may: ['@stowage/core', '@stowage/rules', 'commander', 'yauzl', 'yazl', 'koffi', 'string-width', 'yaml', 'node:'],
	},
	'web/src': {
		may: [
			...purePackages,
			'zod',
			'react',
			'react-dom',
			'react-router',
			'@blueprintjs/',
			'@codemirror/',
			'@lezer/',
			'@tanstack/',
			'@noble/hashes',
			'@fontsource-variable/lexend',
			'chardet',
			'diff',
			'docx-preview',
			'dompurify',
			'epubjs',
			'fflate',
			'highlight.js',
			'htmlparser2',
			'marked',
			'music-metadata',
			'papaparse',
			'pdfjs-dist',
			'qr',
		],
	},
};

/** Inside the page: app, then pages, then features, then api and ui. A feature never imports another. */
const webLayers: Readonly<Record<string, readonly string[]>> = {
	app: ['app', 'pages', 'features', 'api', 'ui', 'messages'],
	pages: ['pages', 'features', 'api', 'ui', 'messages'],
	features: ['features', 'api', 'ui', 'messages'],
	api: ['api', 'messages'],
	ui: ['ui', 'api', 'messages'],
};

/**
 * Inside the server, from the ground up: settings and logs, the infrastructure, request and response bodies, the
 * services, the routes over them. A folder imports from its own layer and from those below; the linter keeps out
 * cycles.
 */
const coreLayers: readonly (readonly string[])[] = [
	['log', 'context', 'secretHash', 'escapeHtml', 'shellCommand', 'config'],
	['http', 'plugins', 'limits', 'leases', 'events', 'audit'],
	['quotas', 'trees', 'search'],
	['bodies', 'responses'],
	['accounts', 'files', 'archives', 'jobs', 'links', 'members', 'shares', 'tickets', 'thumbnails', 'uploads'],
	['pasting', 'moving'],
	['services', 'routes', 'metrics', 'sweep'],
	['createApp', 'openServices', 'app', 'index'],
];

interface ImportLine {
	file: string;
	specifier: string;
	isTypeOnly: boolean;
}

async function importsOf(folder: string): Promise<ImportLine[]> {
	const files = await glob(folder, /\.tsx?$/);
	const found = await Promise.all(
		files.map(async (file) => {
			const text = await readFile(file, 'utf8');
			const lines = text.matchAll(
				/^\s*(?:import\s+(type\s)?(?:[^'"`;]*?\sfrom\s+)?|export\s+(type\s)?(?:\*|\{)[^'"`;]*?\sfrom\s+)['"]([^'"]+)['"]/gm,
			);
			const dynamic = text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g);
			return [
				...[...lines].map((match) => ({
					file,
					specifier: match[3] ?? '',
					isTypeOnly: (match[1] ?? match[2]) !== undefined,
				})),
				...[...dynamic].map((match) => ({ file, specifier: match[1] ?? '', isTypeOnly: false })),
			];
		}),
	);
	return found.flat();
}

function isAllowed({ specifier, isTypeOnly }: ImportLine, may: readonly string[]): boolean {
	return may.some((entry) => {
		const name = entry.replace(/^type /, '');
		if (entry.startsWith('type ') && !isTypeOnly) return false;
		return specifier === name || specifier.startsWith(name.endsWith('/') || name.endsWith(':') ? name : `${name}/`);
	});
}

for (const [folder, { may }] of Object.entries(rooms)) {
	test(`${folder} imports only allowed packages`, async (t) => {
		const lines = await importsOf(folder);
		t.true(folder === 'packages/rules/src' || lines.length > 0, 'no import was read');
		for (const line of lines) {
			if (line.specifier.startsWith('.')) {
				const target = path.resolve(path.dirname(line.file), line.specifier);
				t.true(
					target.startsWith(path.resolve(folder) + path.sep),
					`${line.file} reaches out of its room: ${line.specifier}`,
				);
			} else
				t.true(isAllowed(line, may), `${line.file} may not import ${line.isTypeOnly ? 'type ' : ''}${line.specifier}`);
		}
	});
}

test('every package, plugin and program is listed with its allowed imports', async (t) => {
	const sources = await glob('.', /^src$/, ['packages', 'plugins', 'cli', 'web']);
	t.deepEqual(sources.map((folder) => path.relative('.', folder)).sort(), Object.keys(rooms).sort());
});

test('a file of the page imports from its own layer and those below, and no feature imports another', async (t) => {
	for (const { file, specifier } of await importsOf('web/src')) {
		if (!specifier.startsWith('.')) continue;
		const from = path.relative('web/src', file).split(path.sep);
		const to = path.relative('web/src', path.resolve(path.dirname(file), specifier)).split(path.sep);
		const [layer = '', feature] = from;
		const [target = '', targetFeature] = to;
		if (from.length === 1) continue;
		const targetLayer = target.replace(/\.(js|css)$/, '');
		t.true(webLayers[layer]?.includes(targetLayer), `${file} may not import ${specifier}`);
		if (layer === 'features' && target === 'features')
			t.is(targetFeature, feature, `${file} imports another feature: ${specifier}`);
	}
});

test('a file of the server imports from its own layer and those below, and every folder has a layer', async (t) => {
	const layerOf = (room: string) => coreLayers.findIndex((layer) => layer.includes(room));
	for (const { file, specifier } of await importsOf('packages/core/src')) {
		if (!specifier.startsWith('.') || file.endsWith('.d.ts')) continue;
		const roomOf = (at: string) =>
			(path.relative('packages/core/src', at).split(path.sep)[0] ?? '').replace(/\.(js|ts)$/, '');
		const from = roomOf(file);
		const to = roomOf(path.resolve(path.dirname(file), specifier));
		t.true(layerOf(from) >= 0 && layerOf(to) >= 0, `${file} or ${specifier} is in no layer`);
		t.true(layerOf(to) <= layerOf(from), `${file} may not import ${specifier}`);
	}
});

test('only the api folder of the page sends requests to the server', async (t) => {
	for (const file of await glob('web/src', /\.tsx?$/)) {
		if (file.startsWith(path.join('web', 'src', 'api'))) continue;
		t.notRegex(await readFile(file, 'utf8'), /\bfetch\(|new XMLHttpRequest|new EventSource/, file);
	}
});

const code = /\.(tsx?|css|js)$/;
const topFolders = ['packages', 'plugins', 'cli', 'web', 'test', 'scripts', 'config', 'docs'];

test('every file or folder of the repository that the docs name in backquotes exists', async (t) => {
	const files = (await Promise.all(topFolders.map((folder) => glob(folder, code)))).flat();
	const places = new Set(files.flatMap((file) => [file, ...parentsOf(file)]).map((file) => `/${file}`));
	const known = (name: string) => [...places].some((place) => place.endsWith(`/${name}`));
	for (const doc of ['README.md', ...(await glob('docs', /\.md$/))]) {
		const prose = (await readFile(doc, 'utf8')).replaceAll(/^```.*?^```/gms, '');
		const named = [...prose.matchAll(/`([^`\n]+)`/g)].flatMap(([, text = '']) => text.split(' '));
		for (const name of named.map((word) => word.replace(/\/$/, ''))) {
			if (/[<>*{}$=:]/.test(name)) continue;
			if (topFolders.some((folder) => name.startsWith(`${folder}/`)))
				await t.notThrowsAsync(access(name), `${doc}: ${name}`);
			// The docs also name files of a plugin author.
			else if (/\w\.tsx?$|\.module\.css$|\/src\//.test(name)) t.true(known(name), `${doc}: ${name}`);
		}
		for (const [, symbol = '', file = ''] of prose.matchAll(/`(\w+)` in `([^`\n]+\.tsx?)`/g)) {
			if (topFolders.some((folder) => file.startsWith(`${folder}/`)))
				t.regex(await readFile(file, 'utf8'), new RegExp(`\\b${symbol}\\b`), `${doc}: ${symbol} in ${file}`);
		}
	}
});

function parentsOf(file: string): string[] {
	const parent = path.dirname(file);
	return parent === '.' ? [] : [parent, ...parentsOf(parent)];
}
