import { lstat, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

/** The names of backups. Their times are in UTC, so that they sort by time whenever clocks are changed. */
const namePattern = /^stowage-\d{4}-\d\d-\d\dT\d{6}Z\.zip$/;
const unfinishedPattern = /^stowage-\d{4}-\d\d-\d\dT\d{6}Z\.zip\.[0-9a-f]{12}\.partial$/;

/** A backup that has written nothing for so long was killed. */
const abandonedMs = 7 * 24 * 60 * 60 * 1000;

/** The name of a backup in a folder of backups, such as `stowage-2031-02-03T040506Z.zip`. */
export function datedName(time: number): string {
	return `stowage-${new Date(time).toISOString().replace(/\.\d+/, '').replaceAll(':', '')}.zip`;
}

/**
 * Removes the oldest backups beside this one, so that `keep` are left with it, and what killed backups left there. Only files with
 * exactly such a name count, and only those of the owner of this one: others could have been put there to push it out. Resolves to the
 * names of the removed backups.
 */
export async function removeOldest(file: string, keep: number): Promise<string[]> {
	const folder = path.dirname(file);
	const { uid } = await lstat(file);
	const present = await readdir(folder);
	const isOwn = async (name: string, before = Number.POSITIVE_INFINITY): Promise<boolean> => {
		const found = await lstat(path.join(folder, name)).catch((error: NodeJS.ErrnoException) => {
			if (error.code === 'ENOENT') return undefined;
			throw error;
		});
		return found?.isFile() === true && found.uid === uid && found.mtimeMs < before;
	};
	const names: string[] = [];
	for (const name of present) {
		if (unfinishedPattern.test(name) && (await isOwn(name, Date.now() - abandonedMs))) await remove(name);
		if (namePattern.test(name) && name !== path.basename(file) && (await isOwn(name))) names.push(name);
	}
	const old = names.sort().slice(0, Math.max(0, names.length - (keep - 1)));
	for (const name of old) await remove(name);
	return old;

	function remove(name: string): Promise<void> {
		return rm(path.join(folder, name), { force: true });
	}
}
