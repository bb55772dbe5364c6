import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Config, readSnapshot } from '@stowage/core';
import { writableUnitPath } from './mountPoints.js';

/** The folders that the service writes to. */
export interface ServiceFolders {
	dataDir: string;
	/** Folders of files outside of the data folder. */
	roots: string[];
	/** Other folders outside of it: of the socket and of the database. */
	others: string[];
}

/** The folders that the configuration names, and those of the storage roots in the database. */
export function serviceFolders(config: Config, addedRoots: readonly string[]): ServiceFolders {
	const { dataDir, databaseUrl, listen, plugins } = config;
	const { root } = plugins.get('@stowage/storage-local') ?? {};
	const roots = [...(typeof root === 'string' ? [path.resolve(dataDir, root)] : []), ...addedRoots];
	const others = [
		...(listen === '' ? [] : [path.dirname(listen.slice('unix:'.length))]),
		...(databaseUrl.startsWith('sqlite:') ? [path.dirname(databaseUrl.slice('sqlite:'.length))] : []),
	];
	// The unit creates the second one.
	const own = [dataDir, '/run/stowage'];
	const outside = (folders: string[]) =>
		[...new Set(folders)].filter((folder) => own.every((other) => !isWithin(folder, other)));
	return { dataDir, roots: outside(roots), others: outside(others) };
}

/** What is longer is no path that the system takes, whatever comes after that. */
const maxLength = 5000;

/**
 * The storage roots that were added to the database and are folders of this machine. Throws the errors of opening the database; without a
 * database there are no roots.
 */
export async function addedRoots(databaseUrl: string): Promise<string[]> {
	if (isMissing(databaseUrl)) return [];
	return readSnapshot(databaseUrl, async (snapshot) => {
		const found: string[] = [];
		if (!snapshot.tables.includes('storage_roots')) return found;
		for await (const batch of snapshot.rows('storage_roots')) {
			for (const { location } of batch)
				if (typeof location === 'string' && path.isAbsolute(location)) found.push(location.slice(0, maxLength));
		}
		return found.sort();
	});
}

/** Whether the database is a file that is not there, as before the first start. */
export function isMissing(databaseUrl: string): boolean {
	return databaseUrl.startsWith('sqlite:') && !existsSync(databaseUrl.slice('sqlite:'.length));
}

/** The folders that a unit must name beside the data folder. */
export async function writablePaths({ roots, others }: ServiceFolders): Promise<string[]> {
	return [...new Set([...(await Promise.all(roots.map(writableUnitPath))), ...others])];
}

export function isWithin(folder: string, other: string): boolean {
	return folder === other || other === '/' || folder.startsWith(`${other}/`);
}
