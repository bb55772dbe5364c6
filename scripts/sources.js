import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { root } from './run.js';

const passedOver = new Set(['node_modules', 'dist']);

/** Every file below these folders or of these names, relative to the clone and in order, without what is installed or built. */
export async function listSources(names) {
	const found = [];
	const visit = async (folder) => {
		for (const entry of await readdir(path.join(root, folder), { withFileTypes: true })) {
			const file = path.join(folder, entry.name);
			if (passedOver.has(entry.name)) continue;
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

/** A file's bytes and what stands for them, whenever they were written. */
export async function readSource(file) {
	const content = await readFile(path.join(root, file));
	return { content, digest: createHash('sha256').update(content).digest('base64') };
}
