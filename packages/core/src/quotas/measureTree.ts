import { setImmediate as turn } from 'node:timers/promises';
import type { StorageProvider } from '@stowage/plugin-api';
import { Failure, isFailure, joinPath, maxListedDepth, pathDepth, type StoragePath } from '@stowage/rules';

/** The content of a home, or its maximum. */
export interface Amount {
	bytes: number;
	/** Files and folders. */
	entries: number;
}

/** Thrown where folders lie so deep that what is in them can't be counted. */
export class TooDeep extends Failure {
	constructor() {
		super(
			'conflict',
			`More than ${maxListedDepth} folders lie within each other, so that what is in them can’t be counted. Move or remove them first.`,
		);
	}
}

/**
 * Sums up all items below a folder; a missing one is empty. `pause` is awaited after each batch, with the milliseconds
 * that it took. Throws `TooDeep`: what is not counted would be free of any quota.
 */
export async function measureTree(
	storage: StorageProvider,
	root: StoragePath,
	pause: (workedMs: number) => Promise<void>,
): Promise<Amount> {
	const sum: Amount = { bytes: 0, entries: 0 };
	const folders = [root];
	for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
		if (pathDepth(folder) >= maxListedDepth) throw new TooDeep();
		let began = performance.now();
		try {
			for await (const rows of storage.list(folder)) {
				for (const { name, type, size, unreadable } of rows) {
					sum.entries++;
					sum.bytes += size;
					// Also a damaged one, for which nobody's uploads shall stop.
					if (type === 'directory' && !unreadable) folders.push(joinPath(folder, name));
				}
				await turn();
				await pause(performance.now() - began);
				began = performance.now();
			}
		} catch (error) {
			// Removed since its name was read, or not readable.
			if (!isFailure(error, 'notFound') && !isFailure(error, 'forbidden')) throw error;
		}
	}
	return sum;
}
