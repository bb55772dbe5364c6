import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { root } from './run.js';
import { bundling } from './thirdParties.js';

/** The modules of the command line's package that others open, by the place in its `dist` that their callers expect beside themselves. */
const ownModules = {
	main: 'cli/src/main.ts',
	addedRootsProgram: 'cli/src/service/addedRootsProgram.ts',
	publishingProgram: 'cli/src/backup/publishingProgram.ts',
	// What documents and the Debian package are made from.
	program: 'cli/src/program.ts',
	unit: 'cli/src/service/unit.ts',
};

/** Each is one file: most run in a sandbox that shows them little else, and often. */
const childPrograms = {
	cli: {
		kindProgram: 'packages/core/src/thumbnails/kinds/kindProgram.ts',
		'landlock/launch': 'packages/plugin-api/src/programs/sandbox/landlock/launch.ts',
	},
	'plugins/preview': { 'child/imageProgram': 'plugins/preview/src/images/child/imageProgram.ts' },
};

/** The folders of all packages that the server may be made of, relative to the clone. */
export async function serverPackages() {
	const within = async (folder) =>
		(await readdir(path.join(root, folder))).map((name) => path.posix.join(folder, name));
	return [...(await within('packages')), ...(await within('plugins')), 'cli'];
}

/**
 * Makes one program of the server, its packages and most third parties: a start reads some 30 files in place of 1,200.
 * What several packages share lies in the `dist` of the command line, and each package has an `index.js` in its own,
 * so that it is found by its name: a site's plugin shares one `@stowage/plugin-api` with the server. `folderOf` maps
 * the folder of a package in the clone, such as `plugins/zip`, to its folder in `target`.
 */
export async function bundleServer(places, target = root, folderOf = (place) => place) {
	const { build } = await import('esbuild');
	const dist = (place) => path.join(folderOf(place), 'dist');
	const entriesOf = (place, programs) =>
		Object.entries(programs).map(([out, file]) => ({ in: path.join(root, file), out: path.join(dist(place), out) }));
	const packages = places.filter((place) => place !== 'cli');
	const shared = { ...bundling, absWorkingDir: root, outdir: target, conditions: ['source'], metafile: true };
	const results = [
		await build({
			...shared,
			entryPoints: [
				...entriesOf('cli', ownModules),
				...packages.flatMap((place) => entriesOf(place, { index: path.join(place, 'src/index.ts') })),
			],
			chunkNames: path.join(dist('cli'), '[name]-[hash]'),
			splitting: true,
		}),
	];
	for (const [place, programs] of Object.entries(childPrograms)) {
		if (places.includes(place)) results.push(await build({ ...shared, entryPoints: entriesOf(place, programs) }));
	}
	const written = new Set(
		results.flatMap(({ metafile }) => Object.keys(metafile.outputs)).map((file) => path.resolve(root, file)),
	);
	await Promise.all(places.map((place) => removeOthers(path.join(target, dist(place)), written)));
}

/** What was built from former sources. */
async function removeOthers(folder, written) {
	for (const name of await readdir(folder, { recursive: true })) {
		const file = path.join(folder, name);
		if (/\.js(\.map)?$/.test(name) && !written.has(file)) await rm(file);
	}
}
