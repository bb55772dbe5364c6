import { access } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the built page. */
export async function webRoot(): Promise<string> {
	const folder = path.join(path.dirname(fileURLToPath(import.meta.resolve('@stowage/web/package.json'))), 'dist');
	try {
		await access(path.join(folder, 'index.html'));
	} catch (cause) {
		throw new Error('The page is not built yet: run `npm run build` once.', { cause });
	}
	return folder;
}
