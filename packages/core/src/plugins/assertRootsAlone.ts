import { access, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isAbove, ownModule, whyOthersMayWrite } from '../config/access/whyOthersMayWrite.js';
import { ConfigError } from '../config/load.js';

/**
 * Throws ConfigError unless root alone may write the module of a plugin that root loads, all in the folder of the nearest package.json
 * above it, or in the module's own folder where there is none, and the `node_modules` above. Not looked at are what the module imports
 * from elsewhere or from the data folder, what else lies in a folder of the system or a sticky one in which the module is, and who may
 * make a `node_modules` that is missing. `url` is the module, `name` how the configuration names it and `baseDir` from where that is
 * searched.
 */
export async function assertRootsAlone(
	url: string,
	{ name, baseDir, dataDir }: { name: string; baseDir: string; dataDir: string },
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
	if (manifest !== undefined) await assertClosed(name, manifest);
	const packageFolder = manifest === undefined ? undefined : path.dirname(manifest);
	const data = await realpath(dataDir).catch(() => dataDir);
	for (const folder of [packageFolder, path.dirname(module)]) {
		if (folder === undefined || !(await isForPlugin(folder))) continue;
		await assertClosed(name, folder, { tree: true, without: data });
		break;
	}
	for (const packages of above.map((folder) => path.join(folder, 'node_modules'))) {
		if ((await firstOf([packages])) === undefined) continue;
		// Those in which the program lies or searches its own dependencies are the program's, whatever else is in there.
		const target = await realpath(packages);
		const isPrograms = isAbove(target, ownModule) || isAbove(path.dirname(target), ownModule);
		await assertClosed(name, packages, { tree: !isPrograms });
	}
}

/** Folders that are shared by many programs. */
const systemFolders = [
	...'/ /boot /dev /etc /home /media /mnt /opt /proc /root /run /srv /sys /tmp /usr /var'.split(' '),
	...'/usr/lib /usr/local /usr/local/lib /usr/local/share /usr/share /var/lib'.split(' '),
];

/** Whether all in a folder can be the plugin's, so that a package.json there is its own. In /tmp lies what belongs to others. */
async function isForPlugin(folder: string): Promise<boolean> {
	if (systemFolders.includes(folder) || isAbove(folder, ownModule)) return false;
	return ((await stat(folder)).mode & 0o1000) === 0;
}

async function assertClosed(
	name: string,
	file: string,
	options: Parameters<typeof whyOthersMayWrite>[1] = {},
): Promise<void> {
	const reason = await whyOthersMayWrite(file, options);
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
