import type { StorageProvider } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';

/** Throws `storageFull` unless so many bytes can still be written without touching what must stay free. */
export async function demandSpace(storage: StorageProvider, bytes: number, reserved: number): Promise<void> {
	if (bytes > 0 && bytes > (await storage.freeSpace()) - reserved) {
		throw new Failure('storageFull', 'There is not enough free space for this upload.');
	}
}
