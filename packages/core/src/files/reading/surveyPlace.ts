import type { StorageItem, SurveyingStorage, WalkBatch, WalkedItem } from '@stowage/plugin-api';
import { isFailure, type StoragePath } from '@stowage/rules';
import type { Place } from '../places.js';

/** The direct contents of a folder. A folder that may not be read is left out; one that was removed meanwhile is empty. */
export async function* surveyPlace(storage: SurveyingStorage, folder: Place): AsyncGenerator<WalkBatch> {
	try {
		for await (const { items, skipped } of storage.survey(folder.at)) {
			yield { items: items.map((item) => walkedItem(childOf(folder, item.name), item)), skipped };
		}
	} catch (error) {
		if (isFailure(error, 'forbidden')) yield { items: [], skipped: 1 };
		else if (!isFailure(error, 'notFound')) throw error;
	}
}

export function walkedItem(
	{ path, owner }: Pick<Place, 'path' | 'owner'>,
	{ name, type, size, mtime, id, version }: StorageItem,
): WalkedItem {
	const item: WalkedItem = { name, type, size, mtime, id, version, path };
	if (owner !== undefined) item.owner = owner;
	return item;
}

/** The name was a segment of a folder on disk, so the path is legal. */
function childOf({ path, owner }: Place, name: string): Pick<Place, 'path' | 'owner'> {
	return { path: (path === '' ? name : `${path}/${name}`) as StoragePath, owner };
}
