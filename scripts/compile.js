import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { exclusively } from './lock.js';
import { root } from './run.js';
import { listSources, readSource } from './sources.js';
import { bundleThirdParties } from './thirdParties.js';

/** Where the tree lies as tests and benchmarks run it: the same files, with JavaScript in place of TypeScript. */
const compiled = path.join(root, 'dist');
const stampFile = path.join(compiled, '.sources.json');

const folders = ['packages', 'plugins', 'cli', 'web', 'test', 'bench', 'config'];
/** Decide together with a file's own content what is made of it. */
const recipe = ['scripts/compile.js', 'scripts/thirdParties.js', 'package-lock.json'];

/** Compiles what has another content than the last time, and removes what has gone. Types are checked elsewhere. */
export function compile() {
	return exclusively(path.join(root, 'node_modules', '.stowage-compile.lock'), async () => {
		const stamp = await readStamp();
		const digests = {};
		let changed = [];
		for (const file of [...recipe, ...(await listSources(folders))]) {
			const { content, digest } = await readSource(file);
			digests[file] = digest;
			changed.push({ file, content });
		}
		const isSame = (file) => stamp[file] === digests[file];
		const isSameRecipe = recipe.every(isSame);
		if (isSameRecipe) changed = changed.filter(({ file }) => !isSame(file));
		const gone = Object.keys(stamp).filter((file) => digests[file] === undefined);
		if (changed.length === 0 && gone.length === 0) return;

		const { transform } = await import('esbuild');
		await Promise.all(gone.flatMap(outputsOf).map((output) => rm(output, { force: true })));
		await Promise.all(changed.filter(({ file }) => !recipe.includes(file)).map((source) => emit(source, transform)));
		if (!isSameRecipe) await bundleThirdParties(path.join(compiled, 'node_modules'));
		await replace(stampFile, JSON.stringify(digests));
	});
}

async function emit({ file, content }, transform) {
	const [output, map] = outputsOf(file);
	await mkdir(path.dirname(output), { recursive: true });
	if (path.basename(file) === 'package.json') {
		await replace(output, manifestOf(content));
		await linkPackage(path.dirname(output), JSON.parse(content).name);
	} else if (map === undefined) {
		await replace(output, content);
	} else {
		const { code, map: positions } = await transform(content, {
			format: 'esm',
			target: 'node20',
			loader: file.endsWith('x') ? 'tsx' : 'ts',
			jsx: 'automatic',
			sourcemap: 'external',
			sourcesContent: false,
			sourcefile: path.relative(path.dirname(output), path.join(root, file)),
		});
		await replace(map, positions);
		await replace(output, `${code}//# sourceMappingURL=${path.basename(map)}\n`);
	}
}

function outputsOf(file) {
	const output = path.join(compiled, file.replace(/\.tsx?$/, '.js'));
	return /\.tsx?$/.test(file) ? [output, `${output}.map`] : [output];
}

/** A package here has no `dist`: whoever imports it gets what its source became. */
function manifestOf(content) {
	const manifest = JSON.parse(content);
	for (const [name, { source }] of Object.entries(manifest.exports ?? {})) {
		if (source !== undefined) manifest.exports[name] = source.replace(/\.ts$/, '.js');
	}
	return JSON.stringify(manifest);
}

/** Packages of ours are found here before those that npm linked, and by plugins of a configuration as well. */
async function linkPackage(folder, packageName) {
	const place = path.join(compiled, 'node_modules', packageName);
	await mkdir(path.dirname(place), { recursive: true });
	await symlink(path.relative(path.dirname(place), folder), place).catch(unlessThere);
	// What npm put into the package alone, and the page as it was built: there may be neither.
	for (const name of ['node_modules', 'dist']) {
		const source = path.join(root, path.relative(compiled, folder), name);
		await symlink(path.relative(folder, source), path.join(folder, name)).catch(unlessThere);
	}
}

function unlessThere(error) {
	if (error.code !== 'EEXIST') throw error;
}

/** At once: a test that runs meanwhile loads the old file or the new one. */
async function replace(file, content) {
	const temporary = `${file}.${process.pid}`;
	await writeFile(temporary, content);
	await rename(temporary, file);
}

async function readStamp() {
	try {
		return JSON.parse(await readFile(stampFile, 'utf8'));
	} catch (error) {
		if (error.code === 'ENOENT') return {};
		throw error;
	}
}
