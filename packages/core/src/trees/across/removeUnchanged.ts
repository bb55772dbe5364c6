import type { StorageProvider } from '@stowage/plugin-api';
import { baseName, isFailure, type StoragePath } from '@stowage/rules';
import { digestOf } from './walkHome.js';

interface LeftTree {
	storage: StorageProvider;
	/** The path that it had, where other programs may write. */
	path: StoragePath;
	/** Where it was moved to. */
	away: StoragePath;
	/** What it contained as it was copied. */
	digest: string;
	/** Called where it can't be moved back. */
	onStuck(cause: unknown): void;
}

/**
 * Removes a tree for good that was copied to another root, if it is what was copied. It is compared once it has left its
 * path, so that a file which another program writes there from then on is not removed with it. One that was changed until
 * then is moved back: resolves to its name there, and else to undefined.
 */
export async function removeUnchanged({ storage, path, away, digest, onStuck }: LeftTree): Promise<string | undefined> {
	const restore = () => storage.move(away, path, { otherNames: [`${baseName(path)} (old)`] });
	let isUnchanged = false;
	try {
		// It is too late to be cancelled.
		isUnchanged = (await digestOf(storage, away, new AbortController().signal)) === digest;
	} catch (error) {
		if (isFailure(error, 'notFound')) return undefined;
		// An item that can't be compared, such as a link, counts as a change.
		if (!isFailure(error, 'conflict')) {
			await restore().catch(onStuck);
			throw error;
		}
	}
	if (!isUnchanged) return (await restore()).name;
	await storage.remove(away);
	return undefined;
}
