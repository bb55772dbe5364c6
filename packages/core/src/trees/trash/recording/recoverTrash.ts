import type { TrashRecord, TrashStore, UserStore } from '@stowage/plugin-api';
import { identityOf } from '../../identity.js';
import type { MountedStorage } from '../../storage/MountedStorage.js';
import type { Mount } from '../../storage/Mounts.js';
import { trashedPath } from '../trashPaths.js';
import { itemAt } from '../versions/finishVersion.js';
import { readNotes, type TrashNote, trashContents } from './TrashNotes.js';

interface Dependencies {
	store: TrashStore;
	storage: MountedStorage;
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

/**
 * Lists items again that the database does not know, by the notes beside them: it was lost, or restored from an older
 * copy. A version whose file is not where it was becomes an ordinary item. Throws `unavailable`.
 */
export async function recoverTrash(dependencies: Dependencies, mount: Mount): Promise<RecoveredTrash> {
	const { storage } = mount;
	const unknown = new Set(await unknownTrash(dependencies.store, mount));
	const found: TrashNote[] = [];
	const successors = new Map<string, string>();
	if (unknown.size === 0) return { recovered: 0, unknown: [] };
	for (const path of (await trashContents(storage)).notes) {
		for (const note of await readNotes(storage, path)) {
			if (note.version !== undefined) successors.set(note.version.replacedId, note.version.of);
			if (unknown.delete(note.id)) found.push(note);
		}
	}
	for (const note of found) await dependencies.store.add(await recordOf(dependencies, mount, note, successors));
	return { recovered: found.length, unknown: [...unknown] };
}

async function recordOf(
	dependencies: Dependencies,
	{ storage }: Mount,
	{ version, ...note }: TrashNote,
	successors: ReadonlyMap<string, string>,
): Promise<TrashRecord> {
	const ownerId = await ownerOf(dependencies.users, note);
	const kept = { ...note, ownerId, rootId: storage.rootId, state: 'kept' } as const;
	if (version !== undefined) {
		const { storage: all, ...others } = dependencies;
		const file = await itemAt({ ...others, storage: () => all }, ownerId, note.path);
		if (file?.type === 'file' && leadsTo(version.of, identityOf(file), successors)) {
			const { size, mtime } = await storage.stat(trashedPath(note.id));
			const own = {
				versionOf: identityOf(file),
				replacedId: version.replacedId,
				mtime,
				size: { bytes: size, entries: 1 },
			};
			return { ...kept, kind: 'version', type: 'file', ...own };
		}
	}
	return { ...kept, kind: 'item', size: undefined };
}

/** Whether a file is this one, or was replaced by it at last. */
function leadsTo(from: string, file: string, successors: ReadonlyMap<string, string>): boolean {
	const seen = new Set<string>();
	for (let next: string | undefined = from; next !== undefined && !seen.has(next); next = successors.get(next)) {
		if (next === file) return true;
		seen.add(next);
	}
	return false;
}

/** The user of that id, or in another database the one of that name, or the lost one. */
async function ownerOf(
	users: Dependencies['users'],
	{ ownerId, ownerName }: Pick<TrashNote, 'ownerId' | 'ownerName'>,
): Promise<string> {
	return ((await users.get(ownerId)) ?? (await users.find(ownerName)))?.id ?? ownerId;
}
