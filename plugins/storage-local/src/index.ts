import { join, resolve } from 'node:path';
import { definePlugin, z } from '@stowage/plugin-api';
import { localStorageDriver } from './driver.js';
import type { NotRemoved } from './root/Disk.js';

export { localStorageDriver } from './driver.js';

/** Keeps files as plain files below one folder of this machine. */
export const plugin = definePlugin({
	name: '@stowage/storage-local',
	version: '0.1.0',
	options: z.strictObject({
		/** The folder of the files; relative to the data folder. `files` in the data folder if left out. */
		root: z.string().min(1).optional(),
	}),
	needsHttp: false,
	start(server, options) {
		const root = resolve(server.dataDir, options.root ?? join(server.dataDir, 'files'));
		const log = () => server.logOf('@stowage/storage-local');
		const onMountLeft = (place: string) =>
			log().warn(
				{ place },
				'what is mounted in a removed folder is left: unmount it, and the rest goes at the next start',
			);
		const onNotRemoved = ({ place, error, count }: NotRemoved) =>
			log().warn(
				{ place, err: error, items: count },
				'some of what was removed can’t be, and takes its room: remove it by hand, or let the server do it at its next start',
			);
		server.providers.storage.register('local', localStorageDriver(root, { onMountLeft, onNotRemoved }));
	},
});
