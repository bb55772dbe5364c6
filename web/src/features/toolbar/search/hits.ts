import { type Entry, parentPath, parsePath, rootPath, shownName } from '@stowage/rules';
import { toolbarMessages as messages } from '../messages.js';

/** Identifies a hit: in the public area two trees may have the same path, and no owner has a slash in the name. */
export function hitKey({ path, owner }: Pick<Entry, 'path' | 'owner'>): string {
	return `${owner ?? ''}/${path}`;
}

/**
 * The hit that an arrow key chooses after the one with this key, or `null` for none, as before the first and after the
 * last one. Undefined for other keys.
 */
export function stepInHits(key: string, hits: readonly Entry[], chosen: string | null): string | null | undefined {
	const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : undefined;
	if (step === undefined) return undefined;
	const positions = [null, ...hits.map(hitKey)];
	const at = Math.max(0, positions.indexOf(chosen));
	return positions.at((at + step) % positions.length) ?? null;
}

/** Where a hit lies, as it is shown. */
export function hitFolder({ path }: Pick<Entry, 'path'>): string {
	const folder = parentPath(parsePath(path));
	return folder === rootPath ? messages.home : shownName(folder);
}
