import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { Failure } from '@stowage/rules';

/**
 * Throws `invalid` where a folder of this machine lies inside another root, or another root inside it: each would serve the other's files, with its private folder. Folders are compared as
 * objects, so links and other mounts of a folder are seen through.
 */
export async function assertApart(
	location: string,
	others: readonly { name: string; location: string }[],
): Promise<void> {
	if (!path.isAbsolute(location)) return;
	const own = await chainOf(location);
	for (const other of others) {
		if (!path.isAbsolute(other.location)) continue;
		const theirs = await chainOf(other.location);
		// The same folder is told by the id that it carries.
		if (own.folder !== undefined && own.folder === theirs.folder) continue;
		const isInside = theirs.folder !== undefined && own.above.includes(theirs.folder);
		const holds = own.folder !== undefined && theirs.above.includes(own.folder);
		if (!isInside && !holds) continue;
		const how = isInside ? `lies inside ${other.name}` : `holds ${other.name}`;
		throw new Failure('invalid', `${location} ${how}, in ${other.location}: roots lie beside each other.`);
	}
}

/** The folder itself, unless it is still to be made, and those above it. */
async function chainOf(location: string): Promise<{ folder: string | undefined; above: string[] }> {
	let missing = 0;
	let real: string | undefined;
	let at = path.resolve(location);
	for (; real === undefined; at = path.dirname(at)) {
		try {
			real = await realpath(at);
		} catch (error) {
			// Not there yet, or not for us to see: then those above it count.
			if (at === path.dirname(at)) throw error;
			missing++;
		}
	}
	const objects: string[] = [];
	for (let folder = real; ; folder = path.dirname(folder)) {
		const { dev, ino } = await stat(folder, { bigint: true });
		objects.push(`${dev}:${ino}`);
		if (folder === path.dirname(folder)) break;
	}
	return missing === 0 ? { folder: objects[0], above: objects.slice(1) } : { folder: undefined, above: objects };
}
