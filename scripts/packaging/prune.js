import { readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';

/**
 * What a Linux server with glibc never loads from the packages of others. Their code (.js, .mjs, .cjs, .json, .wasm,
 * .node, .so) stays, and every license.
 */
const neverLoaded = {
	/** Only types, and programs for musl. */
	packages: /^(@types\/|undici-types$|(@[^/]+\/)?[^/]*linuxmusl|@[^/]+\/.*-musl$)/,
	/** Folders at the top of a package: its own tests and texts, what it is made of, and programs for musl. */
	folders: /^(tests?|__tests__|docs?|examples?|bench(mark)?|coverage|browser|musl_\w+)$/,
	/** Types, sources of programs, maps and texts; and what begins with a dot. */
	files:
		/^\.|\.(ts|mts|cts|flow|map|md|markdown|c|cc|cpp|h|hh|hpp|inc|s|S|asm|gyp|gypi|cmake|tsbuildinfo|yml|coffee|html)$/,
};

const license = /^(licen[cs]e|copying|notice|authors)/i;

/** Removes what is never loaded from the folder of an installed program; the workspace's own packages stay as they are. */
export async function prune(app) {
	await pruneModules(path.join(app, 'node_modules'));
}

async function pruneModules(modules) {
	for (const name of await packagesIn(modules)) {
		const folder = path.join(modules, name);
		if (neverLoaded.packages.test(name)) await rm(folder, { recursive: true });
		else if (!name.startsWith('@stowage/')) await pruneFolder(folder, true);
	}
}

async function packagesIn(modules) {
	const names = await readdir(modules).catch(() => []);
	const scoped = names.map(async (name) => {
		if (!name.startsWith('@')) return [name];
		return (await readdir(path.join(modules, name))).map((inner) => `${name}/${inner}`);
	});
	return (await Promise.all(scoped)).flat();
}

async function pruneFolder(folder, isTop) {
	for (const entry of await readdir(folder, { withFileTypes: true })) {
		const file = path.join(folder, entry.name);
		if (!entry.isDirectory()) {
			if (neverLoaded.files.test(entry.name) && !license.test(entry.name)) await rm(file);
		} else if (entry.name === 'node_modules') await pruneModules(file);
		else if (entry.name.startsWith('.') || (isTop && neverLoaded.folders.test(entry.name)))
			await rm(file, { recursive: true });
		else await pruneFolder(file, false);
	}
	if ((await readdir(folder)).length === 0) await rmdir(folder);
}
