import path from 'node:path';
import { Readable } from 'node:stream';
import {
	type Config,
	fillDatabase,
	filledScope,
	isFilled,
	type KnownLink,
	linksOf,
	makeDataDir,
	openDatabase,
	RestoredFiles,
	readKey,
	relink,
	type Services,
	type TableRows,
	type Written,
} from '@stowage/core';
import { Failure, homeRoot, joinPath, PathSet, parsePath, type StoragePath } from '@stowage/rules';
import { type Progress, withRowProgress } from '../terminal/Progress.js';
import { entryNames } from './format.js';
import type { Backup } from './readBackup.js';
import { type NewFile, writeDurably } from './writeDurably.js';

/** The file that `restore` writes the configuration to. */
export interface ConfigurationFile extends NewFile {
	/** Throws `alreadyExists` where a file with other bytes is there. */
	assertFits(content: Buffer): void;
}

/**
 * Restores a backup into an empty data folder and an empty database of either kind. Nothing is written before all of the backup was read
 * and found to be complete. An interrupted restore is repeated by the same call, which goes on after the rows where these are there
 * already; `finishRestore` ends that.
 */
export async function restore(
	backup: Backup,
	config: Pick<Config, 'dataDir' | 'databaseUrl' | 'sessionKey'>,
	configurationFile: ConfigurationFile | undefined,
	progress: Progress,
): Promise<void> {
	await backup.verify(progress);
	if (configurationFile !== undefined) {
		if (!backup.has(entryNames.configuration))
			throw new Failure('notFound', 'The backup holds no configuration file: the server was run without one.');
		configurationFile.assertFits(await backup.content(entryNames.configuration));
	}
	await makeDataDir(config.dataDir);
	if (config.sessionKey === undefined && backup.has(entryNames.key))
		await restoreKey(path.join(config.dataDir, entryNames.key), await backup.content(entryNames.key));
	if (!(await isFilled(config.databaseUrl, backup.id))) await fill(backup, config.databaseUrl, progress);
	// The migrations since then.
	await (await openDatabase(config.databaseUrl)).close();
	if (configurationFile !== undefined)
		await configurationFile.write(Readable.from([await backup.content(entryNames.configuration)]));
}

/** Ends a restore: from now on the database is like any other one that is not empty, and takes no backup. */
export async function finishRestore(backup: Backup, { databaseUrl }: Pick<Config, 'databaseUrl'>): Promise<void> {
	const database = await openDatabase(databaseUrl);
	try {
		await database.keyValues(filledScope).remove(backup.id);
	} finally {
		await database.close();
	}
}

async function fill(backup: Backup, databaseUrl: string, progress: Progress): Promise<void> {
	const { migrations, tables } = backup.manifest.database;
	const count = Object.values(tables).reduce((sum, each) => sum + each, 0);
	const rows = withRowProgress(batches(backup), { what: 'Writing the database', total: { count } }, progress);
	const check = (written: Written) => {
		for (const [table, rowCount] of Object.entries(tables)) {
			if (written.get(table)?.count !== rowCount)
				throw new Failure('invalid', `The backup is damaged: it has not all rows of ${table}.`);
		}
	};
	await fillDatabase(databaseUrl, { migrations, tables: Object.keys(tables), key: backup.id, check }, rows);
}

/** Another key would end every session, and one that is in use may not be replaced. */
async function restoreKey(file: string, key: Buffer): Promise<void> {
	const found = await readKey(file).catch((error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOENT') return undefined;
		throw error;
	});
	if (found === undefined) await writeDurably(file, Readable.from([key]));
	else if (!found.equals(key))
		throw new Failure('conflict', `The data folder has another key already: ${file}. Restore into an empty one.`);
}

async function* batches(backup: Backup): AsyncGenerator<TableRows> {
	for await (const { table, row } of backup.rows()) yield { table, rows: [row] };
}

export interface RelinkCounts {
	/** Bound to the files that were copied back. */
	bound: number;
	/** Valid already. */
	held: number;
	/** Links whose files are missing or have other bytes: by user and path. */
	differs: string[];
	/** Made or moved since the backup. */
	unknown: number;
	/** Links whose disk is not available, by user and path. */
	unavailable: string[];
	/** Those of both that are folders with members, who don't have them any more. */
	memberless: Awaited<ReturnType<Services['members']['folders']>>;
}

/** Binds temporary links to restored files, if path and bytes are those of the backup. */
export async function relinkAll(
	backup: Backup,
	{ database, storage, links, members }: Services,
	progress: Progress,
): Promise<RelinkCounts> {
	await backup.verify(progress);
	const known = new Map<string, KnownLink>();
	for await (const { table, row } of backup.rows()) {
		if (table !== 'temp_links' || row.next_path !== null) continue;
		known.set(String(row.id), { id: String(row.id), path: parsePath(String(row.path)), itemId: String(row.item_id) });
	}
	const wanted = new PathSet<StoragePath>();
	let count = 0;
	for await (const { owner, path: at } of links.list(undefined, { withShares: true })) {
		wanted.add(joinPath(homeRoot(owner.username), at));
		count++;
	}
	const files = new RestoredFiles(storage, wanted);
	for await (const hash of backup.hashes()) files.add(hash);
	const counts: RelinkCounts = { bound: 0, held: 0, differs: [], unknown: 0, unavailable: [], memberless: [] };
	const unbound = new Set<string>();
	progress.begin({ what: 'Comparing', unit: 'link', total: { count } });
	for await (const link of linksOf(database.links, { withShares: true })) {
		const result = await relink(link, known.get(link.id), { links: database.links, storage, files });
		progress.advance({ count: 1 });
		if (result === 'differs' || result === 'unavailable') {
			counts[result].push(`${link.owner.username}: ${link.path}`);
			unbound.add(link.id);
		} else counts[result]++;
	}
	if (unbound.size > 0) counts.memberless = (await members.folders()).filter(({ id }) => unbound.has(id));
	return counts;
}
