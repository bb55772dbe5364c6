import { readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Config, RootState } from '@stowage/core';
import { plural } from '@stowage/rules';
import { firstLocation } from '../commandLine/firstRoot.js';
import { chmodCommand, type Finding, ok, warn } from './findings.js';

/** How many are named; the rest is only counted. */
const maxNamed = 50;

/** The storage roots, homes and files of the database that other accounts of this machine can open, each with what closes it. */
export async function checkAccess(config: Config, roots: readonly RootState[]): Promise<Finding[]> {
	const what = 'access';
	// What is wrong with the others is reported by the check of them, and a disk that hangs would never answer.
	const there = roots.filter(({ fault }) => fault === null);
	const locations = there.map(({ location }) => location ?? firstLocation(config)).filter(path.isAbsolute);
	const open: { message: string; place: string }[] = [];
	const check = async (kind: string, place: string) => {
		const mode = await modeForOthers(place);
		if (mode === undefined) return;
		open.push({ message: `other accounts of this machine can open ${kind} ${place} (mode ${mode})`, place });
	};
	for (const file of await databaseFiles(config)) await check('the database file', file);
	for (const location of new Set(locations)) {
		await check('the storage root', location);
		for (const home of await foldersIn(path.join(location, 'users'))) await check('the home', home);
	}
	if (open.length === 0) return [ok(what, 'storage roots, homes and the database are closed to other accounts')];
	const further = open.slice(maxNamed);
	return [
		...open.slice(0, maxNamed).map(({ message, place }) => warn(what, message, chmodCommand('o=', place))),
		...(further.length === 0
			? []
			: [warn(what, `and ${plural(further.length, 'folder')} more`, chmodCommand('o=', ...locations))]),
	];
}

/** The SQLite file, those that SQLite keeps beside it, and the snapshots. */
async function databaseFiles({ databaseUrl }: Config): Promise<string[]> {
	if (!databaseUrl.startsWith('sqlite:')) return [];
	const file = databaseUrl.slice('sqlite:'.length);
	const names = await readdir(path.dirname(file)).catch(() => []);
	const isOfIt = (name: string) => /^(-wal|-shm|-journal|\..*)?$/.test(name.slice(path.basename(file).length));
	const own = names.filter((name) => name.startsWith(path.basename(file)) && isOfIt(name));
	return own.map((name) => path.join(path.dirname(file), name));
}

async function foldersIn(folder: string): Promise<string[]> {
	// A root that is not available is reported by the check of it.
	const found = await readdir(folder, { withFileTypes: true }).catch(() => []);
	return found.filter((entry) => entry.isDirectory()).map(({ name }) => path.join(folder, name));
}

/** The mode of a file or folder that accounts which are neither its owner nor of its group can reach and open; else undefined. */
async function modeForOthers(place: string): Promise<string | undefined> {
	try {
		const { mode } = await stat(place);
		if ((mode & 0o007) === 0) return undefined;
		for (let at = await realpath(place); at !== '/'; ) {
			at = path.dirname(at);
			if (((await stat(at)).mode & 0o001) === 0) return undefined;
		}
		return (mode & 0o777).toString(8);
	} catch {
		// Gone meanwhile, or not for this user to see.
		return undefined;
	}
}
