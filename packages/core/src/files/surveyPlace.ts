import {
	hasSurvey,
	type StorageItem,
	type StorageProvider,
	type SurveyBatch,
	type WalkBatch,
	type WalkedItem,
} from '@stowage/plugin-api';
import { isFailure, joinPath, type StoragePath } from '@stowage/rules';
import type { Place } from './places.js';

/** What lies directly in a folder. One that may not be read is left out itself; one that was removed meanwhile holds nothing. */
export async function* surveyPlace(storage: StorageProvider, folder: Place): AsyncGenerator<WalkBatch> {
	try {
		for await (const { items, leftOut } of hasSurvey(storage)
			? storage.survey(folder.at)
			: lookAtEach(storage, folder.at)) {
			yield { items: items.map((item) => walkedItem(childOf(folder, item.name), item)), leftOut };
		}
	} catch (error) {
		if (isFailure(error, 'forbidden')) yield { items: [], leftOut: 1 };
		else if (!isFailure(error, 'notFound')) throw error;
	}
}

/** What a storage without a survey knows. */
async function* lookAtEach(storage: StorageProvider, folder: StoragePath): AsyncGenerator<SurveyBatch> {
	for await (const rows of storage.list(folder)) {
		const looks = await Promise.all(
			rows.map(({ name }) =>
				storage.stat(joinPath(folder, name)).catch((error: unknown) => {
					if (isFailure(error, 'notFound')) return undefined;
					throw error;
				}),
			),
		);
		yield { items: looks.filter((item) => item !== undefined), leftOut: 0 };
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
