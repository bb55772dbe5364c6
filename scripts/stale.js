import { createHash } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { serverPackages } from './bundle.js';
import { root } from './run.js';
import { listSources, readSource } from './sources.js';

const stampFile = path.join(root, 'node_modules', '.stowage-build.json');

/** The sources of each build, and the packages that hold its output. Paths are relative to the clone. */
const outputs = {
	server: {
		sources: ['packages', 'plugins', 'cli', 'scripts/bundle.js', 'scripts/thirdParties.js', 'package-lock.json'],
		results: serverPackages,
		// Declarations are written apart.
		isResult: (file) => file.endsWith('.js'),
	},
	web: {
		sources: ['web', 'packages/rules', 'packages/contract', 'package-lock.json'],
		results: async () => ['web'],
		isResult: () => true,
	},
};

/**
 * Whether an output must be built again: its sources have changed, or it was changed itself since the last build.
 * `done()` records the build.
 */
export async function staleness(name) {
	const source = await digestSources(outputs[name].sources);
	const stamp = (await readStamps())[name];
	return {
		isStale: stamp?.source !== source || stamp.result !== (await describeResults(name)),
		async done() {
			const result = await describeResults(name);
			await writeFile(stampFile, JSON.stringify({ ...(await readStamps()), [name]: { source, result } }));
		},
	};
}

async function readStamps() {
	try {
		return JSON.parse(await readFile(stampFile, 'utf8'));
	} catch {
		// No build so far.
		return {};
	}
}

async function digestSources(sources) {
	const hash = createHash('sha256');
	for (const file of await listSources(sources)) {
		if (file.split(path.sep).includes('test') || path.basename(file) === 'README.md') continue;
		hash.update(`${file}\0${(await readSource(file)).digest}\n`);
	}
	return hash.digest('base64');
}

/** Names, sizes and times: build output is not edited, but may have been removed or built by hand from other sources. */
async function describeResults(name) {
	const hash = createHash('sha256');
	const { results, isResult } = outputs[name];
	for (const folder of await results()) {
		const dist = path.join(folder, 'dist');
		const files = await readdir(path.join(root, dist), { recursive: true }).catch(() => []);
		for (const file of files.filter(isResult).sort()) {
			const { size, mtimeMs } = await stat(path.join(root, dist, file));
			hash.update(`${dist}/${file}\0${size}\0${mtimeMs}\n`);
		}
	}
	return hash.digest('base64');
}
