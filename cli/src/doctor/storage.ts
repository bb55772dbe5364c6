import { type Config, createApp, createLog, type RootState } from '@stowage/core';
import { formatListSize } from '@stowage/rules';
import { type Finding, fault, ok, reasonOf, warn } from './findings.js';
import { checkHomes } from './homes.js';

/** Below this part of a disk an administrator wants to hear of it. */
const littleSpace = 0.05;

/** Whether each storage root is there, is the one that the database knows, can be written to, and has room; and homes that are not where they shall be. */
export async function checkStorage(config: Config): Promise<Finding[]> {
	// What it would log is said here.
	const log = createLog('error');
	log.level = 'silent';
	try {
		const app = await createApp(config, { log });
		try {
			const roots = await app.services.roots.list();
			return [...roots.flatMap(findingsOf), ...(await checkHomes(app.services, roots))];
		} finally {
			await app.stop();
		}
	} catch (error) {
		return [fault('storage root', reasonOf(error), mendOf(undefined))];
	}
}

function findingsOf({ name, rootId, location, fault: reason, freeBytes, totalBytes }: RootState): Finding[] {
	const what = 'storage root';
	const called = location === null ? name : `${name} (${location})`;
	if (reason !== null) return [fault(what, `${called}: ${reason}`, mendOf(location))];
	return [
		ok(what, `${called}: there, writable, and the one that the database knows (${rootId})`),
		spaceFinding(name, freeBytes, totalBytes),
	];
}

function spaceFinding(name: string, freeBytes: number | null, totalBytes: number | null): Finding {
	if (freeBytes === null) return ok('space', `${name}: free space unknown, its storage can’t tell`);
	if (totalBytes === null) return ok('space', `${name}: ${formatListSize(freeBytes)} free`);
	const space = `${name}: ${formatListSize(freeBytes)} of ${formatListSize(totalBytes)} free`;
	return freeBytes < totalBytes * littleSpace
		? warn('space', space, 'Make room: stowage public purge, quotas, or a larger disk.')
		: ok('space', space);
}

function mendOf(location: string | null | undefined): string {
	const folder = location ?? 'the folder';
	return `Mount its disk, the one that was there, for writing; ${folder} and .stowage/ in it belong to the server\u2019s user.`;
}
