import { baseName, parentPath, parsePath, type StoragePath } from '@stowage/rules';
import type { Restored } from '../../../api/trash.js';

/** Reasons that a notice has room for. */
const maxReasons = 3;

/** Why items could not be restored: a line for each of the first, and how many more there are. */
export function restoreFailures({ failed }: Pick<Restored, 'failed'>, nameOf: (id: string) => string): string {
	const lines = failed.slice(0, maxReasons).map(({ id, message }) => `${nameOf(id)}: ${message}`);
	const more = failed.length - lines.length;
	return [...lines, ...(more > 0 ? [`…and ${more} more`] : [])].join('\n');
}

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
