import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const nodeModules = '/node_modules/';

/**
 * What Node reads to run a program of ours in a sandbox, as `SandboxNeeds.readOnly`: the folder above the program's
 * own with all in it, the manifest that says of which type its files are, the folders in which it looks for packages,
 * and those of the named libraries. A library that is missing is left out: the program says so itself.
 */
export function moduleFiles(program: string, libraries: readonly string[]): string[] {
	const above = foldersAbove(program);
	const manifest = above.map((folder) => path.join(folder, 'package.json')).find(existsSync);
	const own = [path.dirname(path.dirname(program)), ...(manifest === undefined ? [] : [manifest])];
	// One of these may be a link.
	own.push(...above.map((folder) => path.join(folder, 'node_modules')).filter(existsSync));
	const require = createRequire(program);
	const packages = libraries.flatMap((name) => {
		try {
			return [packageFolder(realpathSync(require.resolve(name)))];
		} catch {
			return [];
		}
	});
	return [...new Set([...own, ...packages])];
}

/** The folder of all packages that a file of one lies in; of a linked package, its own. */
function packageFolder(file: string): string {
	// The outermost: others may be links into it.
	const at = file.indexOf(nodeModules);
	if (at !== -1) return file.slice(0, at + nodeModules.length - 1);
	return foldersAbove(file).find((folder) => existsSync(path.join(folder, 'package.json'))) ?? path.dirname(file);
}

function foldersAbove(file: string): string[] {
	const above: string[] = [];
	for (let folder = path.dirname(file); folder !== path.dirname(folder); folder = path.dirname(folder))
		above.push(folder);
	return above;
}
