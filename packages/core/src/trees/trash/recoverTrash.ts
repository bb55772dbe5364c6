import type { TrashStore, UserStore } from '@stowage/plugin-api';
import type { Mount } from '../Mounts.js';
import { readNotes, type TrashNote, trashContents } from './TrashNotes.js';

interface Dependencies {
	store: TrashStore;
	users: Pick<UserStore, 'get' | 'find'>;
}

export interface RecoveredTrash {
	/** Items that are listed again. */
	recovered: number;
	/** Items without a note, by their ids: nobody knows whose they were. */
	unknown: string[];
}

/** The items in the trash of a root that the database does not know. */
export async function unknownTrash(store: TrashStore, { storage }: Mount): Promise<string[]> {
	const { ids } = await trashContents(storage);
	const known = new Set(await store.known(ids));
	return ids.filter((id) => !known.has(id));
}

/** Lists items again that the database does not know, by the notes beside them: it was lost, or restored from an older copy. Throws `unavailable`. */
export async function recoverTrash({ store, users }: Dependencies, mount: Mount): Promise<RecoveredTrash> {
	const { storage } = mount;
	const unknown = new Set(await unknownTrash(store, mount));
	let recovered = 0;
	for (const path of (await trashContents(storage)).notes) {
		if (unknown.size === 0) break;
		for (const note of await readNotes(storage, path)) {
			if (!unknown.delete(note.id)) continue;
			await store.add({
				...note,
				ownerId: await ownerOf(users, note),
				rootId: storage.rootId,
				size: undefined,
				state: 'kept',
			});
			recovered++;
		}
	}
	return { recovered, unknown: [...unknown] };
}

/** The user of that id, or in another database the one of that name, or the lost one. */
async function ownerOf(users: Dependencies['users'], { ownerId, ownerName }: TrashNote): Promise<string> {
	return ((await users.get(ownerId)) ?? (await users.find(ownerName)))?.id ?? ownerId;
}
