import { baseName, parentPath, rootPath, type StoragePath } from '@stowage/rules';
import { toolbarMessages as messages } from './messages.js';

export interface Step {
	name: string;
	path: StoragePath;
}

/** A path of more folders, which nobody makes by hand, is shown without those in its middle. */
const maxLevels = 50;
/** How many of its last folders are shown then. */
const lastLevels = 10;

/**
 * The folders from the root to `directory`: all that are shown, since the page has the path of each several times, and there may be a
 * thousand.
 */
export function stepsTo(directory: StoragePath): Step[] {
	const steps: Step[] = [];
	for (let path = directory; path !== rootPath; path = parentPath(path)) steps.push({ name: baseName(path), path });
	const cut = steps[maxLevels] && steps[lastLevels];
	// The last of those that are left out leads to them.
	if (cut) steps.splice(lastLevels, steps.length - lastLevels - 1, { ...cut, name: '…' });
	return [{ name: messages.home, path: rootPath }, ...steps.reverse()];
}
