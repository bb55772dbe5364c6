import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * Makes a folder with the parents it lacks; one that is there already is fine. Node's own `recursive` never ends where the system says of
 * a folder that is there that it is not, as it does for new ones below /proc.
 */
export async function makeFolders(folder: string, mode = 0o777): Promise<void> {
	try {
		await makeFolder(folder, mode);
	} catch (error) {
		const parent = path.dirname(folder);
		if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw error;
		await makeFolders(parent, mode);
		await makeFolder(folder, mode);
	}
}

async function makeFolder(folder: string, mode: number): Promise<void> {
	try {
		await mkdir(folder, mode);
	} catch (error) {
		const isThere = async () => (await stat(folder)).isDirectory();
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !(await isThere())) throw error;
	}
}
