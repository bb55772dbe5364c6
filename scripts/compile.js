import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { exclusively } from './lock.js';
import { root } from './run.js';
import { listSources, readSource } from './sources.js';
import { bundleThirdParties } from './thirdParties.js';

/** The compiled tree that tests and benchmarks run: the same files, with JavaScript in place of TypeScript. */
const compiled = path.join(root, 'dist');
const stampFile = path.join(compiled, '.sources.json');

const folders = ['packages', 'plugins', 'cli', 'web', 'test', 'bench', 'config'];
/** The output of a source depends on these files, too. */
const recipe = ['scripts/compile.js', 'scripts/thirdParties.js', 'package-lock.json'];

/** Compiles the sources that have changed since the last time, and removes the output of deleted ones. Types are checked elsewhere. */
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
		const deleted = Object.keys(stamp).filter((file) => digests[file] === undefined);
		if (changed.length === 0 && deleted.length === 0) return;

		const { transform } = await import('esbuild');
		// If this is interrupted, the next run does it again, also where a source has its former content then.
		const unfinished = [...changed.map(({ file }) => file), ...deleted];
		await mkdir(compiled, { recursive: true });
		await replace(stampFile, JSON.stringify({ ...stamp, ...Object.fromEntries(unfinished.map((file) => [file, ''])) }));
		await Promise.all(deleted.flatMap(outputsOf).map((output) => rm(output, { force: true })));
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

/** A package in the compiled tree has no `dist`: its exports are its compiled sources. */
function manifestOf(content) {
	const manifest = JSON.parse(content);
	for (const [name, { source }] of Object.entries(manifest.exports ?? {})) {
		if (source !== undefined) manifest.exports[name] = source.replace(/\.ts$/, '.js');
	}
	return JSON.stringify(manifest);
}

/** The workspace's packages are resolved here before those that npm linked, also by plugins that a configuration names. */
async function linkPackage(folder, packageName) {
	const place = path.join(compiled, 'node_modules', packageName);
	await mkdir(path.dirname(place), { recursive: true });
	await symlink(path.relative(path.dirname(place), folder), place).catch(ignoreExisting);
	// The dependencies that npm installed into the package itself, and the built page: either may be missing.
	for (const name of ['node_modules', 'dist']) {
		const source = path.join(root, path.relative(compiled, folder), name);
		await symlink(path.relative(folder, source), path.join(folder, name)).catch(ignoreExisting);
	}
}

function ignoreExisting(error) {
	if (error.code !== 'EEXIST') throw error;
}

/** Atomic: a test that runs meanwhile loads the old file or the new one. */
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
