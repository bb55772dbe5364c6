import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defaultClientConditions, defineConfig, type Plugin, type Rolldown } from 'vite';

/** In development no server fills the placeholders, as it does at each request otherwise. */
function fillPlaceholders(): Plugin {
	return {
		name: 'fill-placeholders',
		apply: 'serve',
		transformIndexHtml: {
			order: 'post',
			handler: (html) => html.replaceAll('__BASE_HREF__', '/').replaceAll('__NONCE__', ''),
		},
	};
}

/** Leaves out the names and paths of icons that no module imports. */
function onlyImportedIcons(): Plugin {
	return {
		name: 'only-imported-icons',
		enforce: 'pre',
		resolveId: (source, importer) =>
			/[/\\]iconLoader(\.js)?$/.test(source) && importer?.includes('@blueprintjs')
				? `${import.meta.dirname}/src/ui/iconLoader.ts`
				: undefined,
	};
}

/**
 * Leaves out what zod does for others: it describes schemas as JSON Schema, and follows values that contain
 * themselves, which JSON can't. That is a fourth of it, and each schema mentions it. What is left of these modules
 * does nothing.
 */
function onlyParsing(): Plugin {
	return {
		name: 'only-parsing',
		apply: 'build',
		async load(id) {
			if (!/[/\\]zod[/\\]v4[/\\]core[/\\](to-json-schema|json-schema-processors|memoizer)\.js$/.test(id)) return;
			const exported = (await readFile(id, 'utf8')).matchAll(/^export (?:const|function|class) ([\w$]+)/gm);
			return `function nothing() {}\nexport { ${[...exported].map(([, name]) => `nothing as ${name}`).join(', ')} };`;
		},
	};
}

/** The files that the worker of pdf.js fetches when a document needs them, in a folder named by the version. */
function pdfFiles(): Plugin {
	return {
		name: 'pdf-files',
		apply: 'build',
		async generateBundle() {
			const root = path.dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
			const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as { version: string };
			for (const folder of ['cmaps', 'standard_fonts', 'wasm', 'iccs']) {
				for (const name of await readdir(path.join(root, folder))) {
					const source = await readFile(path.join(root, folder, name));
					this.emitFile({ type: 'asset', fileName: `assets/pdfjs-${version}/${folder}/${name}`, source });
				}
			}
		},
	};
}

/** Refuses chunks that import each other: one of them would run before what it needs of the other is there. */
function noChunkCycles(): Plugin {
	return {
		name: 'no-chunk-cycles',
		apply: 'build',
		generateBundle(_, bundle) {
			const done = new Set<string>();
			const visit = (file: string, path: readonly string[]) => {
				if (path.includes(file)) this.error(`Chunks import each other: ${[...path, file].join(' -> ')}`);
				const chunk = bundle[file];
				if (done.has(file) || chunk?.type !== 'chunk') return;
				for (const next of chunk.imports) visit(next, [...path, file]);
				done.add(file);
			};
			for (const file of Object.keys(bundle)) visit(file, []);
		},
	};
}

/** All that the start, the frame and the landing page import at once. */
function landingFiles(bundle: Rolldown.OutputBundle): Set<string> {
	const files = new Set<string>();
	const add = (file: string) => {
		const chunk = bundle[file];
		if (chunk === undefined || files.has(file)) return;
		files.add(file);
		if (chunk.type === 'chunk')
			for (const next of [...chunk.imports, ...(chunk.viteMetadata?.importedCss ?? [])]) add(next);
	};
	const parts = /[\\/]web[\\/](index\.html|src[\\/]app[\\/]Frame\.tsx|src[\\/]pages[\\/]LandingPage\.tsx)$/;
	for (const chunk of Object.values(bundle))
		if (chunk.type === 'chunk' && parts.test(chunk.facadeModuleId ?? '')) add(chunk.fileName);
	return files;
}

/**
 * Has the browser fetch the modules of the frame and the landing page with the start, instead of once that runs: on a slow network
 * they would take as long again.
 */
function preloadLanding(): Plugin {
	return {
		name: 'preload-landing',
		apply: 'build',
		transformIndexHtml: {
			order: 'post',
			handler: (html, { bundle = {} }) =>
				[...landingFiles(bundle)]
					.filter((file) => file.endsWith('.js') && !html.includes(file))
					.map((file) => ({
						tag: 'link',
						attrs: {
							rel: 'modulepreload',
							crossorigin: true,
							href: `__BASE_HREF__${file}`,
							nonce: '__NONCE__',
							// The server leaves them out of the page of a share (`routes/page.ts`).
							'data-frame': true,
						},
						injectTo: 'head',
					})),
		},
	};
}

/** What the landing page may take, in bytes as gzip sends them. */
const landingBudget = { js: 200_000, css: 60_000 };

/** Refuses a page that takes longer to load: all that its start, its frame and the landing page import at once. */
function withinBudget(): Plugin {
	return {
		name: 'within-budget',
		apply: 'build',
		enforce: 'post',
		generateBundle(_, bundle) {
			const files = landingFiles(bundle);
			for (const [type, limit] of Object.entries(landingBudget)) {
				const outputs = [...files].filter((file) => file.endsWith(`.${type}`)).map((file) => bundle[file]);
				const bytes = outputs.reduce(
					(sum, each) => sum + gzipSync((each?.type === 'chunk' ? each.code : each?.source) ?? '').length,
					0,
				);
				if (bytes === 0) this.error(`The landing page has no ${type}: its parts have other names now.`);
				if (bytes > limit) this.error(`The landing page has ${bytes} bytes of ${type} (gzip), and may have ${limit}.`);
			}
		},
	};
}

/** A chunk that several parts share is named after all of them. */
const shortName = (name: string) => name.replace(/~.*/, '');

/** A group of the modules that several parts use. */
const shared = { name: 'shared', minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 8_000 };

export default defineConfig({
	root: import.meta.dirname,
	base: './',
	html: { cspNonce: '__NONCE__' },
	plugins: [
		react(),
		fillPlaceholders(),
		onlyImportedIcons(),
		onlyParsing(),
		pdfFiles(),
		noChunkCycles(),
		preloadLanding(),
		withinBudget(),
	],
	// Packages of this repository are read from their sources.
	resolve: { conditions: ['source', ...defaultClientConditions] },
	experimental: {
		// The page is the same file at every depth (/browser/a/b), so its own links need the base path; everything else
		// finds its neighbours from where it lies itself.
		renderBuiltUrl: (filename, { hostType }) => (hostType === 'html' ? `__BASE_HREF__${filename}` : { relative: true }),
	},
	// The script of the viewers' frame loads its parts when it needs them.
	worker: { format: 'es' },
	build: {
		outDir: 'dist',
		emptyOutDir: true,
		target: 'es2022',
		assetsDir: 'assets',
		// An inlined font or image would need `data:` in the content security policy.
		assetsInlineLimit: 0,
		chunkSizeWarningLimit: 700,
		rolldownOptions: {
			output: {
				chunkFileNames: ({ name }) => `assets/${shortName(name)}-[hash].js`,
				assetFileNames: ({ names: [name = ''] }) => `assets/${shortName(path.parse(name).name)}-[hash][extname]`,
				codeSplitting: {
					groups: [
						// Every page starts with these. One request costs less than dozens of them.
						{ name: 'start', tags: ['$initial'], priority: 7 },
						// Which dialogs and menus are open is asked by lists, where there are none yet.
						{
							...shared,
							name: 'open',
							test: /[\\/]@blueprintjs[\\/]core[\\/].*[\\/]hooks[\\/]overlays[\\/]/,
							priority: 6,
						},
						// What several parts use: each gets no more than it needs, but for pieces that are too small to be asked
						// for alone. What they import is taken along, unless a group before has it.
						{
							...shared,
							name: 'base',
							test: /[\\/](web[\\/]src[\\/]api|packages)[\\/]/,
							priority: 5,
							entriesAwareMergeThreshold: 2_000,
						},
						// Menus apart, or an icon of the landing page would fetch all that a menu needs.
						{ ...shared, name: 'menu', test: /[\\/]@blueprintjs[\\/]core[\\/].*[\\/]menu[\\/]/, priority: 5 },
						{
							...shared,
							name: 'ui',
							test: /[\\/]web[\\/]src[\\/]ui[\\/](.*\.ts|[^\\/]+)$/,
							priority: 4,
							entriesAwareMergeThreshold: 2_000,
						},
						// Apart from other packages, or a button would fetch parts of a viewer's.
						{
							...shared,
							name: 'widgets',
							test: /[\\/]@blueprintjs[\\/](core|icons)[\\/]/,
							priority: 4,
							entriesAwareMergeThreshold: 5_000,
						},
						{ ...shared, test: /[\\/]node_modules[\\/]/, priority: 3 },
						// The upload queue is one part.
						{ name: 'queue', test: /[\\/]web[\\/]src[\\/]features[\\/]uploadQueue[\\/]/, priority: 2 },
						// No pieces are put together, however small: such chunks may import each other.
						{ ...shared, test: /[\\/]web[\\/]src[\\/]/, priority: 1, entriesAwareMergeThreshold: 0 },
					],
				},
			},
		},
	},
	server: { proxy: { '/api': process.env.STOWAGE_URL ?? 'http://127.0.0.1:7420' } },
});
