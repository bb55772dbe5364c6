import * as files from 'node:fs/promises';
import path from 'node:path';

/** Calls that some file systems don't have; a test may replace them. */
type Calls = Pick<typeof files, 'link'>;

/** Gives a written file its name, durably. Throws EEXIST where there is a file of this name. */
export async function publishFile(temporary: string, file: string, { link }: Calls = files): Promise<void> {
	try {
		// A hard link, since a rename would replace a file that was created meanwhile.
		await link(temporary, file);
	} catch (error) {
		if (!isOneOf(error, 'EPERM', ...unsupported)) throw error;
		await takeName(temporary, file);
	}
	await syncFolder(path.dirname(file));
}

/** What file systems without hard links answer, such as exFAT, and those whose folders can't be synced. */
const unsupported = ['ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL'];

const isOneOf = (error: unknown, ...codes: string[]) => codes.includes((error as NodeJS.ErrnoException).code ?? '');

/** Takes the name by an empty file, which nobody else can then make, and renames the written one to it. A kill in between leaves that. */
async function takeName(temporary: string, file: string): Promise<void> {
	const taken = await files.open(file, 'wx', 0o600);
	try {
		await files.rename(temporary, file);
	} catch (error) {
		const [own, there] = [await taken.stat(), await files.stat(file).catch(() => undefined)];
		if (there?.ino === own.ino && there.dev === own.dev) await files.rm(file, { force: true });
		throw error;
	} finally {
		await taken.close();
	}
}

/** Syncs the new name to the disk, if folders can be synced at all. */
async function syncFolder(folder: string): Promise<void> {
	const handle = await files.open(folder, 'r');
	try {
		await handle.sync();
	} catch (error) {
		if (!isOneOf(error, ...unsupported)) throw error;
	} finally {
		await handle.close();
	}
}
