import path from 'node:path';
import {
	definePlugin,
	Failure,
	type StorageDriver,
	type StorageProvider,
	z,
} from '../../packages/plugin-api/src/index.js';
import { localStorageDriver } from '../../plugins/storage-local/src/index.js';

/** A storage plugin whose roots have names instead of paths, and which has none of the optional abilities of a storage. */
export const plugin = definePlugin({
	name: 'shelves',
	version: '1.0.0',
	options: z.strictObject({
		/** The folder that holds all shelves. */
		folder: z.string(),
	}),
	start(server, { folder }) {
		const local = localStorageDriver(path.join(folder, 'unnamed'));
		const driver: StorageDriver = {
			async open(rootId, location) {
				if (location !== undefined && !/^[a-z]+$/.test(location))
					throw new Failure('invalid', `A shelf has a name of small letters, not ${location}.`);
				const place = location === undefined ? undefined : path.join(folder, location);
				return plain(await local.open(rootId, place));
			},
		};
		server.providers.storage.register('shelves', driver);
	},
});

function plain(storage: StorageProvider): StorageProvider {
	return {
		rootId: storage.rootId,
		list: (...given) => storage.list(...given),
		count: (...given) => storage.count(...given),
		stat: (...given) => storage.stat(...given),
		open: async (...given) => {
			const file = await storage.open(...given);
			return {
				item: file.item,
				read: (range) => file.read(range),
				isChanged: () => file.isChanged(),
				close: () => file.close(),
			};
		},
		makeDirectory: (...given) => storage.makeDirectory(...given),
		move: (...given) => storage.move(...given),
		copy: (...given) => storage.copy(...given),
		discardCopy: (...given) => storage.discardCopy(...given),
		remove: (...given) => storage.remove(...given),
		removeEmptyFolder: (...given) => storage.removeEmptyFolder(...given),
		stage: async (...given) => {
			const staged = await storage.stage(...given);
			return {
				id: staged.id,
				size: () => staged.size(),
				append: (...bytes) => staged.append(...bytes),
				sync: () => staged.sync(),
				commit: (...place) => staged.commit(...place),
				discard: () => staged.discard(),
			};
		},
		findPublished: (...given) => storage.findPublished(...given),
		sweepStaging: (...given) => storage.sweepStaging(...given),
		freeSpace: () => storage.freeSpace(),
		totalSpace: () => storage.totalSpace(),
		check: () => storage.check(),
		close: () => storage.close(),
	};
}
