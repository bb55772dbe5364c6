import type { StorageProvider, SurveyBatch } from '@stowage/plugin-api';
import { isFailure, joinPath, type StoragePath } from '@stowage/rules';

/** The items in a folder of a storage without a survey: a stat for each. */
export async function* itemsIn(storage: StorageProvider, folder: StoragePath): AsyncGenerator<SurveyBatch> {
	for await (const rows of storage.list(folder)) {
		const items = await Promise.all(
			rows.map(({ name }) =>
				storage.stat(joinPath(folder, name)).catch((error: unknown) => {
					if (isFailure(error, 'notFound')) return undefined;
					throw error;
				}),
			),
		);
		yield { items: items.filter((item) => item !== undefined), skipped: 0 };
	}
}
