import { readdir } from 'node:fs/promises';
import path from 'node:path';

const excluded = new Set(['node_modules', 'dist', '.git']);

/** Paths below `folder` whose last part matches, files and folders alike. `only` names the folders at the top to visit. */
export async function glob(folder: string, pattern: RegExp, only?: readonly string[]): Promise<string[]> {
	const found: string[] = [];
	const visit = async (current: string, depth: number): Promise<void> => {
		for (const entry of await readdir(current, { withFileTypes: true })) {
			if (excluded.has(entry.name) || (depth === 0 && only !== undefined && !only.includes(entry.name))) continue;
			const full = path.join(current, entry.name);
			if (pattern.test(entry.name)) found.push(full);
			if (entry.isDirectory() && !pattern.test(entry.name)) await visit(full, depth + 1);
		}
	};
	await visit(folder, 0);
	return found;
}
