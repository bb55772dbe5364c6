import { createHash } from 'node:crypto';
import path from 'node:path';
import { Readable } from 'node:stream';
import { type FileHash, hashFiles, readKey, readSnapshot, type Services, type Snapshot } from '@stowage/core';
import { homeRoot, joinPath, PathSet, parsePath, type StoragePath } from '@stowage/rules';
import { ZipFile } from 'yazl';
import type { Progress } from '../terminal/Progress.js';
import { backupFormat, entryNames, type Manifest } from './format.js';
import type { NewFile } from './writeDurably.js';

/** Tables whose rows would be wrong or a danger after a restore: sessions, work under way, counts of attempts. */
const excludedTables = new Set([
	...['sessions', 'tickets', 'limits', 'jobs', 'job_interruptions', 'home_moves', 'home_move_processes'],
	...['uploads', 'idempotency_keys', 'published_names'],
	...['leases', 'events', 'event_listeners', 'share_parts', 'share_passes'],
]);

/** The key-value stores that are backed up. All others are only caches. */
const keptScopes = new Set<unknown>(['user-renames']);

/** What can't be read, and so has no hash in the backup. */
export interface Unreadable {
	count: number;
	/** The first of its paths in the storage. */
	paths: string[];
}

const maxUnreadablePaths = 20;

interface BackupOptions {
	/** Hash every file, not only those of temporary links. */
	hashesAll: boolean;
	/** The text of the configuration file, if there is one. */
	configuration: Buffer | undefined;
	/** The settings in force, without secrets. */
	settings: string;
}

/** Writes one ZIP of all that the server remembers, as it is at one moment. Resolves to its manifest, and to what could not be hashed. */
export async function writeBackup(
	services: Services,
	file: NewFile,
	options: BackupOptions,
	progress: Progress,
): Promise<{ manifest: Manifest; unreadable: Unreadable }> {
	const { config, version } = services;
	const zip = new ZipFile();
	const output = zip.outputStream as Readable;
	const unreadable: Unreadable = { count: 0, paths: [] };
	let written: Promise<void> | undefined;
	try {
		// It ends with the last row: to hash files may take hours, in which the database would keep all that is written for it.
		const manifest = await readSnapshot(config.databaseUrl, async (snapshot) => {
			const manifest: Manifest = {
				format: backupFormat,
				version,
				createdAt: new Date().toISOString(),
				database: { kind: snapshot.kind, migrations: [...snapshot.migrations], tables: {} },
				hasAllHashes: options.hashesAll,
				entries: {},
			};
			written = file.write(output);
			written.catch(() => {});
			await addEntry(zip, manifest, entryNames.database, databaseLines(snapshot, manifest, progress));
			return manifest;
		});
		await addFiles(zip, manifest, unreadable, services, options, progress);
		await written;
		return { manifest, unreadable };
	} catch (error) {
		if (written !== undefined) {
			output.destroy(error as Error);
			// Where that failed first, it is the cause.
			await written;
		}
		throw error;
	}
}

async function addEntry(
	zip: ZipFile,
	{ entries }: Manifest,
	name: string,
	chunks: AsyncIterable<Buffer>,
): Promise<void> {
	const hash = createHash('sha256');
	let size = 0;
	const counted = async function* () {
		for await (const chunk of chunks) {
			hash.update(chunk);
			size += chunk.length;
			yield chunk;
		}
	};
	const notWritten = () => new Error('The backup could not be written.');
	if ((zip.outputStream as Readable).destroyed) throw notWritten();
	const stream = Readable.from(counted());
	const read = new Promise<void>((resolve, reject) => {
		stream.once('end', resolve).once('error', reject);
		zip.outputStream.once('close', () => reject(notWritten()));
	});
	zip.addReadStream(stream, name);
	await read;
	entries[name] = { size, sha256: hash.digest('hex') };
}

/** Adds all but the database, and ends the ZIP. */
async function addFiles(
	zip: ZipFile,
	manifest: Manifest,
	unreadable: Unreadable,
	services: Services,
	{ hashesAll, configuration, settings }: BackupOptions,
	progress: Progress,
): Promise<void> {
	const add = (name: string, chunks: AsyncIterable<Buffer>) => addEntry(zip, manifest, name, chunks);
	await add(entryNames.hashes, hashLines(services, hashesAll, unreadable, progress));
	manifest.hasAllHashes &&= unreadable.count === 0;
	await add(entryNames.settings, once(Buffer.from(settings)));
	if (configuration !== undefined) await add(entryNames.configuration, once(configuration));
	const key = await keyOf(services);
	if (key !== undefined) await add(entryNames.key, once(key));
	zip.addBuffer(Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`), entryNames.manifest);
	zip.end();
}

async function* databaseLines(snapshot: Snapshot, { database }: Manifest, progress: Progress): AsyncGenerator<Buffer> {
	progress.begin({ what: 'Reading the database', unit: 'row' });
	for (const table of snapshot.tables) {
		if (excludedTables.has(table)) continue;
		database.tables[table] = 0;
		for await (const batch of snapshot.rows(table)) {
			const rows = table === 'key_values' ? batch.filter(({ scope }) => keptScopes.has(scope)) : batch;
			database.tables[table] += rows.length;
			progress.advance({ count: batch.length });
			if (rows.length > 0) yield Buffer.from(rows.map((row) => `${JSON.stringify({ table, row })}\n`).join(''));
		}
	}
}

async function* hashLines(
	{ storage, links }: Services,
	hashesAll: boolean,
	unreadable: Unreadable,
	progress: Progress,
): AsyncGenerator<Buffer> {
	progress.begin({ what: 'Hashing', unit: 'file' });
	// One folder that somebody has closed to the server, or one disk that is away, must not leave everybody without a backup.
	const onUnreadable = (at: StoragePath) => {
		if (++unreadable.count <= maxUnreadablePaths) unreadable.paths.push(at);
	};
	for await (const hash of hashesAll
		? allHashes(storage, onUnreadable)
		: linkedHashes({ storage, links }, onUnreadable)) {
		progress.advance({ count: 1, bytes: hash.size });
		yield Buffer.from(`${JSON.stringify(hash)}\n`);
	}
}

type OnUnreadable = (at: StoragePath) => void;

async function* allHashes(storage: Services['storage'], onUnreadable: OnUnreadable): AsyncGenerator<FileHash> {
	yield* hashFiles(storage, parsePath('Public'), { onUnreadable });
	yield* hashFiles(storage, parsePath('users'), { onUnreadable });
}

/** Each file once, however many links lead to it. */
async function* linkedHashes(
	{ storage, links }: Pick<Services, 'storage' | 'links'>,
	onUnreadable: OnUnreadable,
): AsyncGenerator<FileHash> {
	const reported = new PathSet();
	/** The items of links so far, with all that lies in them. */
	const done = new PathSet();
	const onUnreadableOnce = (at: StoragePath) => {
		if (reported.has(at)) return;
		reported.add(at);
		onUnreadable(at);
	};
	for await (const { state, owner, path: at } of links.list(undefined, { withShares: true })) {
		const item = joinPath(homeRoot(owner.username), at);
		if (state === 'unavailable') onUnreadableOnce(item);
		if (state !== 'good' || done.covers(item)) continue;
		yield* hashFiles(storage, item, { onUnreadable: onUnreadableOnce, isLeftOut: (inner) => done.has(inner) });
		done.add(item);
	}
}

/** The key in the data folder; undefined if it is in the configuration. */
async function keyOf({ config }: Services): Promise<Buffer | undefined> {
	return config.sessionKey === undefined ? readKey(path.join(config.dataDir, entryNames.key)) : undefined;
}

async function* once(content: Buffer): AsyncGenerator<Buffer> {
	yield content;
}
