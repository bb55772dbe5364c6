import { type Config, createApp, createLog } from '@stowage/core';
import { formatListSize } from '@stowage/rules';
import { type Finding, fault, ok, reasonOf, warn } from './findings.js';

/** Below this part of a disk an administrator wants to hear of it. */
const littleSpace = 0.05;

/** Whether the storage root is there, is the one that the database knows, can be written to, and has room. */
export async function checkStorage(config: Config): Promise<Finding[]> {
	const what = 'storage root';
	// What it would log is said here.
	const log = createLog('error');
	log.level = 'silent';
	try {
		const app = await createApp(config, { log });
		const { storage } = app.services;
		try {
			await storage.check();
			const [free, total] = [await storage.freeSpace(), await storage.totalSpace()];
			const space = `${formatListSize(free)} of ${formatListSize(total)} free`;
			const spaceFinding =
				free < total * littleSpace
					? warn('space', space, 'Make room: stowage public purge, quotas, or a larger disk.')
					: ok('space', space);
			return [ok(what, `there, writable, and the one that the database knows (${storage.rootId})`), spaceFinding];
		} finally {
			await app.stop();
		}
	} catch (error) {
		const mend = 'Mount its disk, and let the folder and .stowage/ in it belong to the server\u2019s user.';
		return [fault(what, reasonOf(error), mend)];
	}
}
