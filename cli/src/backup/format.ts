import { Failure } from '@stowage/rules';

/** The version of the layout of a backup. */
export const backupFormat = 1;

/** Names of the entries of a backup. */
export const entryNames = {
	manifest: 'manifest.json',
	database: 'database.jsonl',
	hashes: 'hashes.jsonl',
	key: 'session.key',
	configuration: 'stowage.yaml',
	settings: 'settings.yaml',
} as const;

export interface Manifest {
	format: number;
	/** The version of Stowage that wrote it. */
	version: string;
	createdAt: string;
	database: {
		kind: string;
		/** Names of the migrations that made the tables. */
		migrations: string[];
		/** Rows of each table. */
		tables: Record<string, number>;
	};
	/** Whether `hashes.jsonl` has every file, or only those of temporary links or those that could be read. */
	hasAllHashes: boolean;
	entries: Record<string, { size: number; sha256: string }>;
}

/** Throws for a manifest that this program can't read. */
export function parseManifest(text: string): Manifest {
	let manifest: Partial<Manifest>;
	try {
		manifest = JSON.parse(text);
	} catch (cause) {
		throw new Failure('invalid', 'The manifest of the backup is damaged.', { cause });
	}
	if (typeof manifest.format === 'number' && manifest.format > backupFormat)
		throw new Failure('invalid', `The backup was written by a newer Stowage (${manifest.version}). Use that version.`);
	const { entries, database } = manifest;
	if (manifest.format !== backupFormat || typeof entries !== 'object' || !Array.isArray(database?.migrations))
		throw new Failure('invalid', 'The manifest of the backup is damaged.');
	return manifest as Manifest;
}
