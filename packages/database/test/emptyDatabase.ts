import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../src/index.js';

let emptyDatabase: Promise<Buffer> | undefined;

/** Puts an empty SQLite database there, as its migrations leave it. To run them costs ten times as much, and most tests begin so. */
export async function placeDatabase(file: string): Promise<void> {
	emptyDatabase ??= makeDatabase();
	await writeFile(file, await emptyDatabase, { mode: 0o600, flag: 'wx' });
}

async function makeDatabase(): Promise<Buffer> {
	const folder = await mkdtemp(join(tmpdir(), 'stowage-database-'));
	try {
		const file = join(folder, 'stowage.db');
		const database = await openDatabase(`sqlite:${file}`);
		// Moves all that was written into the one file.
		await database.close();
		return await readFile(file);
	} finally {
		await rm(folder, { recursive: true });
	}
}
