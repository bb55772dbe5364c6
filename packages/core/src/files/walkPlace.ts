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

/** What lies at a place, and all below it. Of a root only what lies below; one that nobody has made yet holds nothing. */
export async function* walkPlace(
	storage: StorageProvider,
	place: Place,
	signal: AbortSignal | undefined,
): AsyncGenerator<WalkBatch> {
	if (place.path !== '') {
		const item = await storage.stat(place.at);
		yield { items: [walked(place, item)], leftOut: 0 };
		if (item.type === 'file') return;
	}
	const folders = [place];
	for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
		signal?.throwIfAborted();
		const { items, leftOut } = await everythingIn(storage, folder);
		const parent = folder;
		const found = items.map((item) => ({ item, place: childOf(parent, item.name) }));
		yield { items: found.map((child) => walked(child.place, child.item)), leftOut };
		const below = found.filter(({ item }) => item.type === 'directory').map((child) => child.place);
		folders.push(...below.reverse());
	}
}

/** The whole folder by name: the order on disk changes as things come and go. */
async function everythingIn(storage: StorageProvider, { at }: Place): Promise<SurveyBatch> {
	const items: StorageItem[] = [];
	let leftOut = 0;
	try {
		for await (const batch of hasSurvey(storage) ? storage.survey(at) : lookAtEach(storage, at)) {
			for (const item of batch.items) items.push(item);
			leftOut += batch.leftOut;
		}
	} catch (error) {
		if (isFailure(error, 'forbidden')) return { items: [], leftOut: 1 };
		// Removed since its name was read, or a root that nobody has made yet.
		if (!isFailure(error, 'notFound')) throw error;
	}
	items.sort((a, b) => (a.name < b.name ? -1 : 1));
	return { items, leftOut };
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

function walked({ path, owner }: Place, { name, type, size, mtime, id, version }: StorageItem): WalkedItem {
	const item: WalkedItem = { name, type, size, mtime, id, version, path };
	if (owner !== undefined) item.owner = owner;
	return item;
}

/** The name was a segment of a folder on disk, so the paths are legal. */
function childOf({ area, owner, path, at }: Place, name: string): Place {
	const below = (folder: StoragePath) => (folder === '' ? name : `${folder}/${name}`) as StoragePath;
	return { area, owner, path: below(path), at: below(at) };
}
