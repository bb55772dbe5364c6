import type { Files, ItemRef, WalkedItem, Watch } from '@stowage/plugin-api';
import { type MemberRole, type Owner, type StoragePath, signedIn, type Viewer } from '@stowage/rules';
import { endingFile } from '../../members/endingFile.js';
import { type Entered, enterFolder } from '../../members/enterFolder.js';
import { listShared } from '../../members/listShared.js';
import { pathNow } from '../../members/payer.js';
import { notSharedAnyMore, type SharedFolders } from '../../members/SharedFolders.js';
import { readWhileMember, whileMember } from '../../members/whileMember.js';
import { searchShared } from './searchShared.js';

type Reads = Pick<
	Files,
	'list' | 'search' | 'watch' | 'locate' | 'find' | 'open' | 'readSmallFiles' | 'stat' | 'listWithStats'
>;

/** What only reads, and what ends as soon as the viewer's role does. */
export function sharedReads(files: Reads, folders: SharedFolders): Reads {
	const enter = (viewer: Viewer, ref: ItemRef, role: MemberRole) => enterFolder(folders, viewer, ref, role);

	/** The viewer's own files, of which folders with members say so. */
	async function* listOwn(viewer: Viewer, folder: ItemRef, onMissing?: (owner: Owner) => void) {
		const counts = viewer.kind === 'user' ? await folders.memberCounts(viewer, folder.path) : undefined;
		for await (const batch of files.list(viewer, folder, onMissing)) {
			if (counts !== undefined && counts.size > 0) {
				for (const entry of batch) {
					const members = entry.type === 'directory' ? counts.get(entry.name) : undefined;
					if (members !== undefined) entry.members = members;
				}
			}
			yield batch;
		}
	}

	return {
		async *list(viewer, folder, onMissing) {
			if (folder.area === 'private') return yield* listOwn(viewer, folder, onMissing);
			if (folder.area !== 'shared') return yield* files.list(viewer, folder, onMissing);
			if (folder.path === '') return yield* listShared(folders, signedIn(viewer), onMissing);
			const { viewer: owner, ref, shown, held } = await enter(viewer, folder, 'view');
			for await (const batch of readWhileMember(folders, held, files.list(owner, ref))) yield batch.map(shown);
		},

		async search(viewer, folder, query, signal, turn) {
			if (folder.area !== 'shared') return files.search(viewer, folder, query, signal, turn);
			if (folder.path !== '') {
				const { viewer: owner, ref, shown, held } = await enter(viewer, folder, 'view');
				const look = (until: AbortSignal) => files.search(owner, ref, query, until, turn);
				const found = await whileMember(folders, held, look, signal);
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
				if (hasEnded) return;
				hasEnded = true;
				watch?.close();
				onEnd?.();
			};
			// Where the folder is by then is looked for at the next check, once for all changes and all who watch.
			let hasChanged = false;
			watch = await files.watch(owner, ref, () => {
				hasChanged = true;
			});
			if (hasEnded) watch.close();
			const onPlace = (path: StoragePath) => {
				// What changes where the folder has been is none of the member's business.
				if (path !== ref.path) return end();
				if (!hasChanged) return;
				hasChanged = false;
				onChange();
			};
			const leave = folders.held.hold(held, end, { role: place.role, onRole: onChange, onPlace });
			return {
				close() {
					leave();
					watch?.close();
				},
			};
		},

		async locate(viewer, ref) {
			const { area, path, folderId } = ref;
			if (area !== 'shared' || folderId === undefined) return files.locate(viewer, ref);
			const now = await pathNow(folders, viewer, { folderId, path });
			if (now === undefined) throw notSharedAnyMore();
			return { ...ref, path: now };
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
			const batches = readWhileMember(folders, within.held, files.listWithStats(within.viewer, within.ref));
			for await (const { items, skipped } of batches)
				yield { items: items.map((item) => walked(within, item)), skipped };
		},
	};
}

function walked({ pathOf, place }: Entered, item: WalkedItem): WalkedItem {
	const path = pathOf(item.path);
	return { ...item, path, folderId: place.folder.id, ...(item.path === place.root ? { name: place.name } : {}) };
}
