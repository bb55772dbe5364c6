import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { root } from './run.js';

const excluded = new Set(['node_modules', 'dist']);

/** Every file below these folders or of these names, relative to the clone and sorted, without installed packages and build output. */
export async function listSources(names) {
	const found = [];
	const visit = async (folder) => {
		for (const entry of await readdir(path.join(root, folder), { withFileTypes: true })) {
			const file = path.join(folder, entry.name);
			if (excluded.has(entry.name)) continue;
			if (entry.isDirectory()) await visit(file);
			else found.push(file);
		}
	};
	for (const name of names) {
		if ((await stat(path.join(root, name))).isDirectory()) await visit(name);
		else found.push(name);
	}
	return found.sort();
}

/** A file's bytes and their digest. */
export async function readSource(file) {
	const content = await readFile(path.join(root, file));
	return { content, digest: createHash('sha256').update(content).digest('base64') };
}

/** The test files that a test file imports, relative to the clone: they run in its process. */
export async function importedTests(clone, file) {
	const text = await readText(clone, file);
	const extension = path.extname(file) === '.js' ? '.js' : '.ts';
	return Array.from(text.matchAll(/^import '(.+\.test)\.js';$/gm), ([, other]) =>
		path.join(path.dirname(file), `${other}${extension}`),
	);
}

/** The text of a file in a clone. */
export function readText(clone, file) {
	return readFile(path.join(clone, file), 'utf8');
}
