import type { FileCopyOptions, Files, ItemRef, TakenItem } from '@stowage/plugin-api';
import {
	assertAllowed,
	copyDenial,
	deleteDenial,
	type Entry,
	Failure,
	isFailure,
	type MemberRole,
	moveDenial,
	parentPath,
	renameDenial,
	signedIn,
	type Viewer,
} from '@stowage/rules';
import { type Entered, enterFolder, inBoth } from '../../members/enterFolder.js';
import { notSharedAnyMore, type SharedFolders, viewOnly } from '../../members/SharedFolders.js';
import { changedAfterwards, changedMeanwhile, digestOfItem, digestOfTaken } from '../digestOfItem.js';

/** Copies by one viewer what another one may read. */
export type CopyFor = (
	viewer: Viewer,
	ref: ItemRef,
	to: ItemRef,
	options: FileCopyOptions | undefined,
	reader: Viewer,
) => Promise<Entry>;

export interface ChangeDependencies {
	folders: SharedFolders;
	copyFor: CopyFor;
	/** Whether what is deleted can be restored. */
	trash: { readonly isOn: boolean };
}

type Changes = Pick<
	Files,
	'createFile' | 'createFolder' | 'rename' | 'move' | 'copy' | 'discardCopy' | 'remove' | 'assertRemovable'
>;

/** What changes items. One that leaves its name needs a role in the folder that it is in as well. */
export function sharedChanges(
	files: Changes & Pick<Files, 'stat' | 'listWithStats'>,
	{ folders, copyFor, trash }: ChangeDependencies,
): Changes {
	const enter = (viewer: Viewer, ref: ItemRef, role: MemberRole) => enterFolder(folders, viewer, ref, role);

	/** An item that is to leave its name: the folder that it is in changes, and all that is in it. */
	const enterToTake = async (viewer: Viewer, ref: ItemRef): Promise<Entered> => {
		const { owner: _, ...folder } = { ...ref, path: parentPath(ref.path) };
		await enter(viewer, folder, 'edit');
		const entered = await enter(viewer, ref, 'edit');
		if (await folders.hasLocked(signedIn(viewer), entered.place)) throw viewOnly();
		return entered;
	};

	/** An item that is to go into the trash. Refused where there is no trash: the member would remove it for good. */
	const enterToRemove = async (viewer: Viewer, item: ItemRef): Promise<Entered> => {
		assertAllowed(deleteDenial(viewer, item));
		const entered = await enterToTake(viewer, item);
		if (!trash.isOn) throw onlyOwner();
		return entered;
	};

	/** The path that an item is to get: where that is taken it gets another name in the same folder. */
	const enterTarget = async (viewer: Viewer, target: ItemRef): Promise<Entered> => {
		const entered = await enter(viewer, target, 'edit');
		await enter(viewer, { ...target, path: parentPath(target.path) }, 'edit');
		return entered;
	};

	/** Runs work that ends with the roles of all that was entered. */
	const whileHeld = async <T>(
		all: readonly Entered[],
		signal: AbortSignal | undefined,
		work: (signal: AbortSignal) => Promise<T>,
	): Promise<T> => {
		const lost = new AbortController();
		const ends = all.map(({ held }) => folders.held.hold(held, () => lost.abort(notSharedAnyMore())));
		try {
			return await work(signal === undefined ? lost.signal : AbortSignal.any([signal, lost.signal]));
		} catch (error) {
			if (lost.signal.aborted && signal?.aborted !== true) throw lost.signal.reason;
			throw error;
		} finally {
			for (const end of ends) end();
		}
	};

	const copy: Files['copy'] = async (viewer, item, to, options) => {
		if (item.area !== 'shared' && to.area !== 'shared') return files.copy(viewer, item, to, options);
		assertAllowed(copyDenial(viewer, item));
		const from = item.area === 'shared' ? await enter(viewer, item, 'view') : undefined;
		const into = to.area === 'shared' ? await enterTarget(viewer, to) : undefined;
		const isOneHome = from !== undefined && into !== undefined && from.viewer.id === into.viewer.id;
		const writer = isOneHome ? inBoth(from, into) : (into?.viewer ?? viewer);
		const reader = isOneHome ? writer : (from?.viewer ?? viewer);
		const all = [from, into].filter((each) => each !== undefined);
		const entry = await whileHeld(all, options?.signal, (signal) =>
			copyFor(writer, from?.ref ?? item, into?.ref ?? to, { ...options, signal }, reader),
		);
		return into?.shown(entry) ?? entry;
	};

	return {
		async createFile(viewer, folder, name) {
			if (folder.area !== 'shared') return files.createFile(viewer, folder, name);
			const { viewer: owner, ref, shown } = await enter(viewer, folder, 'edit');
			return shown(await files.createFile(owner, ref, name));
		},

		async createFolder(viewer, folder, name) {
			if (folder.area !== 'shared') return files.createFolder(viewer, folder, name);
			const { viewer: owner, ref, shown } = await enter(viewer, folder, 'edit');
			try {
				return shown(await files.createFolder(owner, ref, name));
			} catch (error) {
				if (!isFailure(error, 'notFound')) throw error;
				// The message has a path of the owner's home.
				throw new Failure('notFound', `There is no such folder: ${folder.path}`, { cause: error });
			}
		},

		async rename(viewer, item, newName) {
			if (item.area !== 'shared') return files.rename(viewer, item, newName);
			assertAllowed(renameDenial(viewer, item));
			const { viewer: owner, ref, shown } = await enterToTake(viewer, item);
			return shown(await files.rename(owner, ref, newName));
		},

		async move(viewer, item, toPath, options) {
			if (item.area !== 'shared') return files.move(viewer, item, toPath, options);
			const { toFolderId: folderId, ...conflict } = options ?? {};
			const target: ItemRef = { area: 'shared', path: toPath, ...(folderId === undefined ? {} : { folderId }) };
			assertAllowed(moveDenial(viewer, item, target));
			const from = await enterToTake(viewer, item);
			const into = await enterTarget(viewer, target);
			if (from.viewer.id === into.viewer.id)
				return into.shown(await files.move(inBoth(from, into), from.ref, into.ref.path, conflict));
			// Of another owner: what leaves a home goes into its trash.
			await enterToRemove(viewer, item);
			const digest = () =>
				digestOfItem(files, from.viewer, from.ref).catch((error: unknown) => {
					if (!isFailure(error, 'notFound')) throw error;
					// The message has a path of the owner's home.
					throw new Failure('notFound', `No such file or folder: ${item.path}`, { cause: error });
				});
			const original = await digest();
			// Else all of it would be copied before.
			await files.assertRemovable(from.viewer, from.ref);
			const entry = await copy(viewer, item, target, {
				...conflict,
				async beforeNaming() {
					if ((await digest()) !== original) throw changedMeanwhile(item.path);
				},
			});
			if ((await digest()) !== original) throw changedAfterwards(item.path);
			// Compared once more where nothing can arrive in it.
			const isMeant = async (taken: TakenItem) => (await digestOfTaken(taken, item.path)) === original;
			await files.remove(from.viewer, from.ref, { isMeant }).catch((error: unknown) => {
				throw isFailure(error, 'preconditionFailed') ? changedAfterwards(item.path) : error;
			});
			return entry;
		},

		copy,

		discardCopy: (id) => files.discardCopy(id),

		async remove(viewer, item, options = {}) {
			if (item.area !== 'shared') return files.remove(viewer, item, options);
			const { viewer: owner, ref } = await enterToRemove(viewer, item);
			if (options.isForGood) throw onlyOwner();
			return files.remove(owner, ref, options);
		},

		async assertRemovable(viewer, item) {
			if (item.area !== 'shared') return files.assertRemovable(viewer, item);
			const { viewer: owner, ref } = await enterToRemove(viewer, item);
			return files.assertRemovable(owner, ref);
		},
	};
}

const onlyOwner = () => new Failure('forbidden', 'Only its owner can delete this forever.');
