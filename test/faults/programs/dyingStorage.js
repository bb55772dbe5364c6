import { localStorageDriver } from '../../../plugins/storage-local/dist/index.js';
import { loadSystemCalls } from '../../../plugins/storage-local/dist/system/loadSystemCalls.js';

/** A plugin whose storage, `dying`, kills its process once it has read so many names of `root`, as a copy does. Its options are not checked. */
export const plugin = {
	name: 'dying-storage',
	version: '1.0.0',
	needs: [],
	options: { safeParse: (data) => ({ success: true, data }) },
	async start({ providers }, { root, names }) {
		const calls = await loadSystemCalls();
		let left = names;
		async function* readNames(folder) {
			for await (const batch of calls.readNames(folder)) {
				if (left <= 0) process.kill(process.pid, 'SIGKILL');
				left -= batch.length;
				yield batch;
			}
		}
		providers.storage.register('dying', localStorageDriver(root, { calls: { ...calls, readNames } }));
	},
};
