import { baseName, parentPath, parsePath, type StoragePath } from '@stowage/rules';
import type { Restored } from '../../../api/trash.js';

/** The folder that all restored items are in, and the one of them that it begins at; undefined where there are several. */
export function restoredPlace({
	restored,
}: Pick<Restored, 'restored'>): { directory: StoragePath; path: string } | undefined {
	const [first, ...others] = restored;
	if (first === undefined) return undefined;
	const directory = parentPath(parsePath(first.path));
	const isOne = others.every(({ path }) => parentPath(parsePath(path)) === directory);
	return isOne ? { directory, path: first.path } : undefined;
}

/** The items under the names that they have now. */
export function restoredItems({ restored }: Pick<Restored, 'restored'>): { name: string }[] {
	return restored.map(({ path }) => ({ name: baseName(parsePath(path)) }));
}
