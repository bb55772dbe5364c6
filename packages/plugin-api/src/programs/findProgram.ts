import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { programFolders } from './programEnvironment.js';

/** The absolute path of a program that is named by its path or found on the PATH; undefined where it is not installed. */
export async function findProgram(name: string): Promise<string | undefined> {
	const folders = name.includes('/') ? [''] : programFolders();
	for (const folder of folders) {
		const file = path.resolve(folder, name);
		try {
			await access(file, constants.X_OK);
			return file;
		} catch {
			// Not in this folder.
		}
	}
	return undefined;
}
