import type { StaleMark } from '@stowage/database';
import { type StorageItem, type StorageProvider, trashFolder } from '@stowage/plugin-api';
import { isFailure, isWithin, joinPath, parentPath, type StoragePath } from '@stowage/rules';
import { wrapStaged } from '../trees/space/metered.js';
import type { ChangeJournal } from './ChangeJournal.js';
import { rowsAround, rowsOf, treeAt } from './marks.js';

/** What is in here is in no listing. */
const unlisted = parentPath(trashFolder);

type Changing = Pick<StorageProvider, 'makeDirectory' | 'move' | 'copy' | 'remove' | 'removeEmptyFolder' | 'stage'>;

/**
 * Wraps the storage with all its abilities: each change is noted for the index of names before and after it is made.
 * Whoever changes files does so through the storages of the roots, so no change is missed.
 */
export function notedStorage(storage: StorageProvider, journal: Pick<ChangeJournal, 'begin'>): StorageProvider {
	// As they are now: one that is put in the place of a noted change may call that.
	const plain: Changing = {
		makeDirectory: storage.makeDirectory.bind(storage),
		move: storage.move.bind(storage),
		copy: storage.copy.bind(storage),
		remove: storage.remove.bind(storage),
		removeEmptyFolder: storage.removeEmptyFolder.bind(storage),
		stage: storage.stage.bind(storage),
	};
	/** Runs a change that may make these stale; `after` says which it did once it has succeeded. */
	async function noted<T>(
		before: readonly StaleMark[],
		change: () => Promise<T>,
		after: (result: T) => readonly StaleMark[] = () => before,
	): Promise<T> {
		const listed = (marks: readonly StaleMark[]) =>
			marks.filter(({ path }) => !isWithin(path, unlisted)).map((mark) => ({ ...mark, rootId: storage.rootId }));
		const begun = listed(before);
		if (begun.length === 0) return change();
		const { end } = journal.begin(begun);
		let marks = begun;
		try {
			const result = await change();
			marks = listed(after(result));
			return result;
		} catch (error) {
			// Missing parents are made by trying each: most of them are there.
			if (isFailure(error, 'alreadyExists')) marks = [];
			throw error;
		} finally {
			end(marks);
		}
	}

	const changing: Changing = {
		// A folder that the index does not know is read from the disk.
		makeDirectory: (path) => noted([rowsAround(path)], () => plain.makeDirectory(path)),
		move: (from, to, options) =>
			noted(
				[rowsAround(from), rowsAround(to), treeAt(from), treeAt(to)],
				() => plain.move(from, to, options),
				(item) => [rowsAround(from), rowsAround(to), ...ifFolder(item, from, sibling(to, item))],
			),
		copy: (from, to, options) =>
			noted(
				[rowsAround(to), treeAt(to)],
				() => plain.copy(from, to, options),
				(item) => [rowsAround(to), ...ifFolder(item, sibling(to, item))],
			),
		remove: (path, options) => noted([rowsAround(path), treeAt(path)], () => plain.remove(path, options)),
		removeEmptyFolder: (path) => noted([rowsAround(path), treeAt(path)], () => plain.removeEmptyFolder(path)),
		stage: async (id) =>
			wrapStaged(await plain.stage(id), (staged) => ({
				commit: (path, options) => noted([rowsAround(path)], () => staged.commit(path, options)),
			})),
	};
	const access = {
		writeAccess: (path: StoragePath) => [rowsAround(path), rowsOf(path)],
		inheritAccess: (path: StoragePath) => [rowsAround(path), rowsOf(path)],
	};
	return new Proxy(storage, {
		get(target, key) {
			if (Object.hasOwn(changing, key)) return changing[key as keyof Changing];
			const value: unknown = Reflect.get(target, key);
			if (typeof value !== 'function') return value;
			if (Object.hasOwn(access, key)) {
				const marks = access[key as keyof typeof access];
				return (path: StoragePath, ...rest: unknown[]) =>
					noted(marks(path), async () => Reflect.apply(value, target, [path, ...rest]));
			}
			// Its private fields are those of the storage itself.
			return value.bind(target);
		},
		set: (target, key, value) => Reflect.set(Object.hasOwn(changing, key) ? changing : target, key, value),
	});
}

/** The path of an item that may have got another name. */
const sibling = (path: StoragePath, { name }: StorageItem): StoragePath => joinPath(parentPath(path), name);

const ifFolder = ({ type }: StorageItem, ...paths: StoragePath[]): StaleMark[] =>
	type === 'directory' ? paths.map(treeAt) : [];
