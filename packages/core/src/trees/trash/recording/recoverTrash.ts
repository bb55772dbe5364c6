import type { TrashRecord, TrashStore, UserStore } from '@stowage/plugin-api';
import { anonymousOwner } from '@stowage/rules';
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
	/** The last names of those of the recovered items' owners that have no account. */
	withoutAccount: string[];
	/** How many were given to accounts by their names, by the ids of these. */
	given: ReadonlyMap<string, number>;
}

/** The items in the trash of a root that the database does not know. */
export async function unknownTrash(store: TrashStore, { storage }: Mount): Promise<string[]> {
	const { ids } = await trashContents(storage);
	const known = new Set(await store.known(ids));
	return ids.filter((id) => !known.has(id));
}

/** Whose items become whose, where that is told by names: accounts of now by the ids of those that are gone. */
export interface OwnersByName {
	owners: ReadonlyMap<string, string>;
	/** Names that several accounts had that are gone: nobody can tell which of them the one of now is. */
	refused: { username: string; accounts: number; items: number }[];
}

/** Finds for the owners in the notes whose ids no account has the accounts that have their names. Throws `unavailable`. */
export async function findOwnersByName(
	{ users }: Pick<Dependencies, 'users'>,
	mounts: readonly Mount[],
): Promise<OwnersByName> {
	const found = new Map<string, { username: string; items: Map<string, number> }>();
	for (const { storage } of mounts) {
		const { ids, notes } = await trashContents(storage);
		const there = new Set(ids);
		for (const path of notes) {
			for (const { id, ownerId, ownerName } of await readNotes(storage, path)) {
				if (!there.delete(id) || !(await isGone(users, ownerId))) continue;
				const user = await users.find(ownerName);
				if (user === undefined) continue;
				const of = found.get(user.id) ?? { username: user.username, items: new Map() };
				found.set(user.id, of);
				of.items.set(ownerId, (of.items.get(ownerId) ?? 0) + 1);
			}
		}
	}
	const owners = new Map<string, string>();
	const refused: OwnersByName['refused'] = [];
	for (const [userId, { username, items }] of found) {
		const [[first] = []] = items;
		if (items.size === 1 && first !== undefined) owners.set(first, userId);
		else
			refused.push({
				username,
				accounts: items.size,
				items: [...items.values()].reduce((sum, count) => sum + count, 0),
			});
	}
	return { owners, refused };
}

const isGone = async (users: Dependencies['users'], id: string) =>
	id !== anonymousOwner && (await users.get(id)) === undefined;

/** Items that are read together. */
const pageSize = 500;

/** Gives what is listed already as that of accounts that are gone to those of now. Resolves to how many items each got, by their ids. */
export async function assignTrash(store: TrashStore, { owners }: OwnersByName): Promise<Map<string, number>> {
	const given = new Map<string, number>();
	for (const [gone, ownerId] of owners) {
		for (;;) {
			const records = await store.list({ order: 'oldest', limit: pageSize, ownerId: gone });
			if (records.length === 0) break;
			for (const record of records) {
				// If it ends in between, the note beside the item has it listed again.
				await store.remove([record.id]);
				await store.add({ ...record, ownerId });
			}
			given.set(ownerId, records.length + (given.get(ownerId) ?? 0));
		}
	}
	return given;
}

/**
 * Lists items again that the database does not know, by the notes beside them: it was lost, or restored from an older
 * copy. Each stays that of the account that it was of: a later one of the same name is somebody else, unless `byName` says
 * otherwise. A version whose file is not where it was becomes an ordinary item. Throws `unavailable`.
 */
export async function recoverTrash(
	dependencies: Dependencies,
	mount: Mount,
	byName?: OwnersByName,
): Promise<RecoveredTrash> {
	const { storage } = mount;
	const unknown = new Set(await unknownTrash(dependencies.store, mount));
	const found: TrashNote[] = [];
	const successors = new Map<string, string>();
	const given = new Map<string, number>();
	if (unknown.size === 0) return { recovered: 0, unknown: [], withoutAccount: [], given };
	for (const path of (await trashContents(storage)).notes) {
		for (const note of await readNotes(storage, path)) {
			const { replacedId, of } = note.version ?? {};
			// The latest note comes first.
			if (replacedId !== undefined && of !== undefined && !successors.has(replacedId)) successors.set(replacedId, of);
			if (unknown.delete(note.id)) found.push(note);
		}
	}
	const withoutAccount = new Set<string>();
	for (const { ownerId: noted, ...note } of found) {
		const successor = byName?.owners.get(noted);
		const ownerId = successor ?? noted;
		if (await isGone(dependencies.users, ownerId)) withoutAccount.add(note.ownerName);
		await dependencies.store.add(await recordOf(dependencies, mount, { ...note, ownerId }, successors));
		if (successor !== undefined) given.set(successor, 1 + (given.get(successor) ?? 0));
	}
	return { recovered: found.length, unknown: [...unknown], withoutAccount: [...withoutAccount], given };
}

async function recordOf(
	dependencies: Dependencies,
	{ storage }: Mount,
	{ version, ...note }: TrashNote,
	successors: ReadonlyMap<string, string>,
): Promise<TrashRecord> {
	const { ownerId } = note;
	const kept = { ...note, rootId: storage.rootId, state: 'kept' } as const;
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
