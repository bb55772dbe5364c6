// Of the compiled tree: the program as it is shipped is one, in which a part of the storage can't be replaced.
import { localStorageDriver } from '../../../dist/plugins/storage-local/src/index.js';
import { loadSystemCalls } from '../../../dist/plugins/storage-local/src/system/loadSystemCalls.js';

/**
 * A plugin whose storage, `dying`, kills its process once it has read so many names of `root`, as a copy does. Its
 * options are not checked.
 */
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
