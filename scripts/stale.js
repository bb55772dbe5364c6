import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { root } from './run.js';

const stampFile = path.join(root, 'node_modules', '.stowage-build.json');

/** What is built from what. Paths are relative to the clone. */
const outputs = {
	server: {
		sources: ['packages', 'plugins', 'cli', 'config', 'package-lock.json'],
		result: 'cli/dist/main.js',
	},
	web: { sources: ['web', 'packages/rules', 'packages/contract', 'package-lock.json'], result: 'web/dist/index.html' },
};

const passedOver = new Set(['node_modules', 'dist', 'test', 'README.md']);

/** Whether an output must be built again; `done()` remembers that it was. */
export async function staleness(name) {
	const { sources, result } = outputs[name];
	const print = await fingerprint(sources);
	const stamps = await readStamps();
	const exists = await stat(path.join(root, result)).then(
		() => true,
		() => false,
	);
	return {
		isStale: !exists || stamps[name] !== print,
		async done() {
			await mkdir(path.dirname(stampFile), { recursive: true });
			await writeFile(stampFile, JSON.stringify({ ...(await readStamps()), [name]: print }));
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

/** Names, sizes and times of all sources: reading their bytes would slow down every start. */
async function fingerprint(sources) {
	const hash = createHash('sha256');
	const visit = async (relative) => {
		const found = await stat(path.join(root, relative));
		if (!found.isDirectory()) {
			hash.update(`${relative}\0${found.size}\0${found.mtimeMs}\n`);
			return;
		}
		for (const name of (await readdir(path.join(root, relative))).sort()) {
			if (!passedOver.has(name)) await visit(path.join(relative, name));
		}
	};
	for (const source of sources) await visit(source);
	return hash.digest('hex');
}
