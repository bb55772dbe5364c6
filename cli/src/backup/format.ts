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
	let manifest: unknown;
	try {
		manifest = JSON.parse(text);
	} catch (cause) {
		throw new Failure('invalid', 'The manifest of the backup is damaged.', { cause });
	}
	if (isRecord(manifest) && typeof manifest.format === 'number' && manifest.format > backupFormat)
		throw new Failure('invalid', `The backup was written by a newer Stowage (${manifest.version}). Use that version.`);
	if (!isManifest(manifest)) throw new Failure('invalid', 'The manifest of the backup is damaged.');
	return manifest;
}

function isManifest(value: unknown): value is Manifest {
	if (!isRecord(value) || !isRecord(value.database) || !isRecord(value.entries)) return false;
	const { migrations, tables } = value.database;
	const { entries } = value;
	return (
		value.format === backupFormat &&
		typeof value.createdAt === 'string' &&
		Array.isArray(migrations) &&
		migrations.every((name) => typeof name === 'string') &&
		isRecord(tables) &&
		Object.values(tables).every(isCount) &&
		[entryNames.database, entryNames.hashes].every((name) => Object.hasOwn(entries, name)) &&
		Object.values(entries).every((each) => isRecord(each) && isCount(each.size) && typeof each.sha256 === 'string')
	);
}

function isCount(value: unknown): boolean {
	return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Whether the value is an object of JSON, and no list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
