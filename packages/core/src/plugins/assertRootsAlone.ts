import { access, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '../config/load.js';
import { isAbove, othersMayWrite, ownModule } from '../config/othersMayWrite.js';

/**
 * Throws ConfigError unless root alone may write the module of a plugin that root loads, its package and the packages that it may import.
 * `url` is the module, `name` how the configuration names it and `baseDir` from where that is searched.
 */
export async function assertRootsAlone(
	url: string,
	{ name, baseDir }: { name: string; baseDir: string },
): Promise<void> {
	// What the configuration holds itself.
	if (!url.startsWith('file:')) return;
	const module = await realpath(fileURLToPath(url));
	// The links on the way are no longer seen in the module's own address.
	const isUrl = name.startsWith('file:');
	const named =
		isUrl || path.isAbsolute(name) ? fileURLToPath(isUrl ? name : url) : await firstOf(placesOf(name, baseDir));
	for (const file of named === undefined ? [module] : [named, module]) await assertClosed(name, file);
	const above = foldersAbove(module);
	const manifest = await firstOf(above.map((folder) => path.join(folder, 'package.json')));
	const trees = above.map((folder) => path.join(folder, 'node_modules'));
	if (manifest !== undefined) {
		await assertClosed(name, manifest);
		const folder = path.dirname(manifest);
		// In /tmp lies what belongs to others.
		if (((await stat(folder)).mode & 0o1000) === 0) trees.push(folder);
	}
	for (const tree of trees) {
		if ((await firstOf([tree])) === undefined) continue;
		// Of the packages that the program is made of itself, somebody else may have made more.
		const target = await realpath(tree);
		const isPrograms = isAbove(target, ownModule) || isAbove(path.dirname(target), ownModule);
		await assertClosed(name, tree, !isPrograms);
	}
}

async function assertClosed(name: string, file: string, tree = false): Promise<void> {
	const reason = await othersMayWrite(file, { tree });
	if (reason === undefined) return;
	throw new ConfigError(
		`Root does not load the plugin ${name}, for ${reason}. Give it to root alone with all that it imports and the folders above (chown root, chmod go-w), or give the data folder to the user of the server, whom root becomes then.`,
	);
}

/** Where a package is searched, the nearest folder first. */
function placesOf(name: string, baseDir: string): string[] {
	const parts = name.split('/');
	const folder = parts.slice(0, name.startsWith('@') ? 2 : 1).join('/');
	return [baseDir, ...foldersAbove(baseDir), ...foldersAbove(ownModule)].map((each) =>
		path.join(each, 'node_modules', folder),
	);
}

function foldersAbove(file: string): string[] {
	const folder = path.dirname(file);
	return folder === file ? [] : [folder, ...foldersAbove(folder)];
}

async function firstOf(files: readonly string[]): Promise<string | undefined> {
	for (const file of files) {
		const isThere = await access(file).then(
			() => true,
			() => false,
		);
		if (isThere) return file;
	}
	return undefined;
}
