import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const libraries = ['sharp', 'libheif-js/wasm-bundle.js'];

const nodeModules = '/node_modules/';

/** What the child reads to run in a cage: its own files, the manifest that says of which type they are, and the folder of all packages that has those of its libraries. */
export function childFiles(program: string): string[] {
	const above: string[] = [];
	for (let folder = path.dirname(program); folder !== path.dirname(folder); folder = path.dirname(folder)) {
		above.push(folder);
	}
	const manifest = above.map((folder) => path.join(folder, 'package.json')).find(existsSync);
	const own = [path.dirname(path.dirname(program)), ...(manifest === undefined ? [] : [manifest])];
	// Where libraries are looked for; one of these may be a link.
	own.push(...above.map((folder) => path.join(folder, 'node_modules')).filter(existsSync));
	const require = createRequire(program);
	const packages = libraries.flatMap((name) => {
		try {
			const file = realpathSync(require.resolve(name));
			// The outermost: others may be links into it.
			const at = file.indexOf(nodeModules);
			return at === -1 ? [] : [file.slice(0, at + nodeModules.length - 1)];
		} catch {
			// Without its library the child says so itself.
			return [];
		}
	});
	return [...new Set([...own, ...packages])];
}
