import { readdir } from 'node:fs/promises';
import { DatabaseError } from '@stowage/database';
import { processesFolder } from '../config/dataDir.js';
import type { Config } from '../config/schema.js';
import { identifyProcess, pidOf } from './processIdentity.js';

/**
 * Throws where a process of this machine serves over the database, whose list of them is given; those over a file have one in the data
 * folder. An older server doesn't notice that its tables are changed, so that a command of a newer program would have it go on with
 * tables that it does not know. Processes elsewhere can't be asked: their rows may be those of machines that were lost.
 */
export async function assertUnserved(
	config: Pick<Config, 'dataDir' | 'databaseUrl'>,
	listed: readonly string[],
): Promise<void> {
	const serving = await servingHere(config, listed);
	if (serving.length === 0) return;
	throw new DatabaseError(
		`An older Stowage serves over this database, and can’t go on with the tables of this version: process ${serving.join(', ')}. Restart it with this version, or stop it, and then repeat this.`,
	);
}

/** The ids of the processes of this machine that serve over the database, whose list of them is given, if it has one. */
export async function servingHere(
	{ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>,
	listed: readonly string[] = [],
): Promise<string[]> {
	const { canTell, hasEnded } = await identifyProcess();
	const ofFile = databaseUrl.startsWith('sqlite:') ? await filesIn(processesFolder(dataDir)) : [];
	const serving: string[] = [];
	for (const name of [...listed, ...ofFile.map((file) => file.replaceAll('_', ' '))])
		if (canTell(name) && !(await hasEnded(name))) serving.push(String(pidOf(name)));
	return serving;
}

async function filesIn(folder: string): Promise<string[]> {
	try {
		return await readdir(folder);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
		throw error;
	}
}
