import type { FileCopyOptions, Files, ItemRef, WalkedItem, Watch } from '@stowage/plugin-api';
import {
	assertAllowed,
	copyDenial,
	deleteDenial,
	type Entry,
	Failure,
	isFailure,
	type MemberRole,
	moveDenial,
	type Owner,
	parentPath,
	renameDenial,
	type StoragePath,
	signedIn,
	type Viewer,
} from '@stowage/rules';
import { endingFile, noLonger } from '../members/endingFile.js';
import { type Entered, enterFolder, inBoth } from '../members/enterFolder.js';
import { listShared } from '../members/listShared.js';
import { mayOnlyView, type SharedFolders } from '../members/SharedFolders.js';
import { searchShared } from './searchShared.js';

/** Copies by one viewer what another one may read. */
export type CopyFor = (
	viewer: Viewer,
	ref: ItemRef,
	to: ItemRef,
	options: FileCopyOptions | undefined,
	reader: Viewer,
) => Promise<Entry>;

interface Dependencies {
	folders: SharedFolders;
	copyFor: CopyFor;
	/** Whether what is deleted can be restored. */
	trash: { readonly isOn: boolean };
	log: { warn(details: object, message: string): void };
}

/**
 * The same calls for the area of shared folders as well: each enters the folder by the one gate (`enterFolder`), and
 * is made there in the private area of its owner, which the member sees as far as the folder goes.
 */
export function sharedFiles(files: Files, { folders, copyFor, trash, log }: Dependencies): Files {
	const enter = (viewer: Viewer, ref: ItemRef, role: MemberRole) => enterFolder(folders, viewer, ref, role);

	/** An item that is to leave its name: the folder that it is in changes, and all that is in it. */
	const enterToTake = async (viewer: Viewer, ref: ItemRef): Promise<Entered> => {
		const { owner: _, ...folder } = { ...ref, path: parentPath(ref.path) };
		await enter(viewer, folder, 'edit');
		const entered = await enter(viewer, ref, 'edit');
		if (await folders.hasLocked(signedIn(viewer), entered.place)) throw mayOnlyView();
		return entered;
	};

	/** The same of one that goes into the trash: where there is none it would be gone for good. */
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
		const ends = all.map(({ held }) => folders.held.hold(held, () => lost.abort(noLonger())));
		try {
			return await work(signal === undefined ? lost.signal : AbortSignal.any([signal, lost.signal]));
		} catch (error) {
			if (lost.signal.aborted && signal?.aborted !== true) throw lost.signal.reason;
			throw error;
		} finally {
			for (const end of ends) end();
		}
	};

	/** The viewer's own files, of which folders with members say so. */
	async function* listOwn(viewer: Viewer, folder: ItemRef, onMissing?: (owner: Owner) => void) {
		const counts = viewer.kind === 'user' ? await folders.memberCounts(viewer, folder.path) : undefined;
		for await (const batch of files.list(viewer, folder, onMissing)) {
			if (counts !== undefined && counts.size > 0) {
				for (const entry of batch) {
					const members = entry.type === 'directory' ? counts.get(entry.path as StoragePath) : undefined;
					if (members !== undefined) entry.members = members;
				}
			}
			yield batch;
		}
	}

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
		async *list(viewer, folder, onMissing) {
			if (folder.area === 'private') return yield* listOwn(viewer, folder, onMissing);
			if (folder.area !== 'shared') return yield* files.list(viewer, folder, onMissing);
			if (folder.path === '') return yield* listShared(folders, signedIn(viewer), onMissing);
			const { viewer: owner, ref, shown } = await enter(viewer, folder, 'view');
			for await (const batch of files.list(owner, ref)) yield batch.map(shown);
		},

		async search(viewer, folder, query, signal, turn) {
			if (folder.area !== 'shared') return files.search(viewer, folder, query, signal, turn);
			if (folder.path !== '') {
				const { viewer: owner, ref, shown } = await enter(viewer, folder, 'view');
				const found = await files.search(owner, ref, query, signal, turn);
				return { ...found, entries: found.entries.map(shown) };
			}
			return searchShared(files, folders, viewer, { query, signal, turn });
		},

		async watch(viewer, folder, onChange, onEnd) {
			if (folder.area !== 'shared') return files.watch(viewer, folder, onChange, onEnd);
			if (folder.path === '') return folders.lists.watch(signedIn(viewer).id, onChange);
			const { viewer: owner, ref, held, place } = await enter(viewer, folder, 'view');
			let hasEnded = false;
			let watch: Watch | undefined;
			const end = () => {
				hasEnded = true;
				watch?.close();
				onEnd?.();
			};
			watch = await files.watch(owner, ref, () => {
				folders.again(held.user, held).then(
					// What changes where the folder has been is none of the member's business.
					({ path }) => (path === ref.path ? onChange() : end()),
					// Lost, which is noticed soon, or not known at the moment.
					() => {},
				);
			});
			if (hasEnded) watch.close();
			const leave = folders.held.hold(held, end, { role: place.role, onRole: onChange });
			return {
				close() {
					leave();
					watch?.close();
				},
			};
		},

		async find(viewer, item) {
			if (item.area !== 'shared') return files.find(viewer, item);
			const { viewer: owner, ref, shown } = await enter(viewer, item, 'view');
			return shown(await files.find(owner, ref));
		},

		async open(viewer, item) {
			if (item.area !== 'shared') return files.open(viewer, item);
			const { viewer: owner, ref, shown, held } = await enter(viewer, item, 'view');
			const { entry, file } = await files.open(owner, ref);
			return { entry: shown(entry), file: endingFile(file, (onLost) => folders.held.hold(held, onLost)) };
		},

		async readSmallFiles(viewer, folder, names, maxBytes) {
			if (folder.area !== 'shared') return files.readSmallFiles(viewer, folder, names, maxBytes);
			const { viewer: owner, ref } = await enter(viewer, folder, 'view');
			return files.readSmallFiles(owner, ref, names, maxBytes);
		},

		async *stat(viewer, area, items, signal) {
			if (area !== 'shared') return yield* files.stat(viewer, area, items, signal);
			const known = folders.forMany();
			for (const item of items) {
				signal?.throwIfAborted();
				const within = await enterFolder(known, viewer, item, 'view');
				for await (const found of files.stat(within.viewer, 'private', [within.ref])) yield walked(within, found);
			}
		},

		async *listWithStats(viewer, folder) {
			if (folder.area !== 'shared') return yield* files.listWithStats(viewer, folder);
			const within = await enter(viewer, folder, 'view');
			for await (const { items, skipped } of files.listWithStats(within.viewer, within.ref))
				yield { items: items.map((item) => walked(within, item)), skipped };
		},

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
			const entry = await copy(viewer, item, target, conflict);
			await files.remove(from.viewer, from.ref);
			return entry;
		},

		copy,

		discardCopy: (id) => files.discardCopy(id),

		async remove(viewer, item, options = {}) {
			if (item.area !== 'shared') return files.remove(viewer, item, options);
			const { viewer: owner, ref } = await enterToRemove(viewer, item);
			if (options.isForGood) throw onlyOwner();
			return files.remove(owner, ref);
		},

		async assertRemovable(viewer, item) {
			if (item.area !== 'shared') return files.assertRemovable(viewer, item);
			const { viewer: owner, ref } = await enterToRemove(viewer, item);
			return files.assertRemovable(owner, ref);
		},

		stage: (viewer, id) => files.stage(viewer, id),

		withDescriptor: (viewer, staged, use) => files.withDescriptor(viewer, staged, use),

		async assertUpload(viewer, folder, file) {
			if (folder.area !== 'shared') return files.assertUpload(viewer, folder, file);
			const { viewer: owner, ref } = await enter(viewer, folder, 'edit');
			return files.assertUpload(owner, ref, file);
		},

		async publish(viewer, folder, requests, options) {
			if (folder.area !== 'shared') return files.publish(viewer, folder, requests, options);
			let within: Entered;
			try {
				within = await enter(viewer, folder, 'edit');
			} catch (error) {
				// As `publish` does with what it can't publish.
				for (const { staged } of requests)
					await staged.discard().catch((cause) => log.warn({ err: cause }, 'a refused upload could not be removed'));
				throw error;
			}
			return (await files.publish(within.viewer, within.ref, requests, options)).map(within.shown);
		},

		async publishOnce(viewer, folder, request) {
			if (folder.area !== 'shared') return files.publishOnce(viewer, folder, request);
			const { viewer: owner, ref, shown } = await enter(viewer, folder, 'edit');
			return shown(await files.publishOnce(owner, ref, request));
		},

		async findPublished(viewer, folder, stagedId, name) {
			if (folder.area !== 'shared') return files.findPublished(viewer, folder, stagedId, name);
			const { viewer: owner, ref, shown } = await enter(viewer, folder, 'edit');
			const entry = await files.findPublished(owner, ref, stagedId, name);
			return entry && shown(entry);
		},
	};
}

const onlyOwner = () => new Failure('forbidden', 'Only its owner can delete this forever.');

function walked({ pathOf, place }: Entered, item: WalkedItem): WalkedItem {
	const path = pathOf(item.path);
	return { ...item, path, folderId: place.folder.id, ...(item.path === place.root ? { name: place.name } : {}) };
}
