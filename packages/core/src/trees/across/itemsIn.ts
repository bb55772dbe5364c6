import type { StatsBatch, StorageProvider } from '@stowage/plugin-api';
import { joinPath, type StoragePath, undefinedIf } from '@stowage/rules';

/** The items in a folder of a storage without a list with stats: a stat for each. */
export async function* itemsIn(storage: StorageProvider, folder: StoragePath): AsyncGenerator<StatsBatch> {
	for await (const rows of storage.list(folder)) {
		const items = await Promise.all(
			rows.map(({ name }) => undefinedIf(storage.stat(joinPath(folder, name)), 'notFound')),
		);
		yield { items: items.filter((item) => item !== undefined), skipped: 0 };
	}
}
