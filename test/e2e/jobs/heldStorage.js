import { EventEmitter, once } from 'node:events';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { localStorageDriver } from '../../../plugins/storage-local/dist/index.js';

/** Longer than the minimum interval between two progress reports of a copy, so that each file is reported. */
const reportedMs = 150;

/**
 * A plugin whose storage, `held`, keeps files like the default one and can hold copies before each file. `POST
 * /api/heldCopies/{change}`: `hold` holds them from now on, `step` lets one file pass, `release` all. Its options are
 * not checked.
 */
export const plugin = {
	name: 'held-storage',
	version: '1.0.0',
	needs: [],
	options: { safeParse: (data) => ({ success: true, data }) },
	start(server) {
		const changes = new EventEmitter().setMaxListeners(0);
		let allowed = Number.POSITIVE_INFINITY;
		const pass = async (signal) => {
			if (allowed === Number.POSITIVE_INFINITY) return;
			while (allowed === 0) await once(changes, 'change', { signal });
			allowed--;
			if (Number.isFinite(allowed)) await wait(reportedMs, undefined, { signal });
		};
		const driver = localStorageDriver(path.join(server.dataDir, 'files'));
		server.providers.storage.register('held', {
			async open(...given) {
				const storage = await driver.open(...given);
				const copy = storage.copy.bind(storage);
				storage.copy = (from, to, options = {}) => {
					const beforeItem = async (item) => {
						await options.beforeItem?.(item);
						if (item.type === 'file') await pass(options.signal);
					};
					return copy(from, to, { ...options, beforeItem });
				};
				return storage;
			},
		});
		server.route({
			method: 'POST',
			path: '/api/heldCopies/{change}',
			handler({ params: { change } }) {
				allowed = { hold: 0, step: allowed + 1, release: Number.POSITIVE_INFINITY }[change];
				changes.emit('change');
				return {};
			},
		});
	},
};
