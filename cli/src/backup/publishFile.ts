import { link, open } from 'node:fs/promises';
import path from 'node:path';

/** Gives a written file its name, durably. Throws EEXIST where there is a file of this name. */
export async function publishFile(temporary: string, file: string): Promise<void> {
	// A hard link, since a rename would replace a file that was created meanwhile.
	await link(temporary, file);
	const folder = await open(path.dirname(file), 'r');
	try {
		await folder.sync();
	} finally {
		await folder.close();
	}
}
