import { stat } from 'node:fs/promises';
import path from 'node:path';
import {
	type Config,
	checkWatch,
	createLog,
	hasLeftovers,
	moreWatches,
	openCommandServices,
	type RootState,
	type Services,
	unknownTrash,
	unrecordedFolder,
	unrecordedOn,
	visitorFiles,
} from '@stowage/core';
import { formatListSize, isFailure, plural } from '@stowage/rules';
import { checkAccess } from './access.js';
import { type Finding, fault, ok, reasonOf, warn } from './findings.js';
import { checkHomes } from './homes.js';

/** The check warns if less than this share of the space is free. */
const littleSpace = 0.05;

/** To free a large folder takes its time. */
const removingMs = 60 * 60_000;

/**
 * Whether each storage root is available, is the one in the database, can be written to, and has room; homes that are in the wrong place;
 * and what other accounts can open.
 */
export async function checkStorage(config: Config, now = Date.now()): Promise<Finding[]> {
	// Its log messages are shown as findings here.
	const log = createLog('error');
	log.level = 'silent';
	try {
		const app = await openCommandServices(config, { log });
		try {
			const roots = await app.services.rootAdministration.list();
			const drivers = app.providers.storage.all();
			const findings = await Promise.all(roots.map((root) => findingsOf(root, drivers, app.services)));
			return [
				...findings.flat(),
				...(await checkHomes(app.services, roots)),
				...(await checkTrash(app.services)),
				...(await checkLeftovers(app.services, now)),
				...(await checkAccess(config, roots)),
			];
		} finally {
			await app.stop();
		}
	} catch (error) {
		return [fault('storage root', reasonOf(error), mountAgain('the folder'))];
	}
}

/** Items of the trash that the database does not know, as after it was lost or restored from an older copy. */
async function checkTrash({ roots, database }: Services): Promise<Finding[]> {
	const findings: Finding[] = [];
	for (const mount of roots.all()) {
		try {
			const unknown = await unknownTrash(database.trash, mount);
			if (unknown.length > 0) {
				const message = `the database does not know ${plural(unknown.length, 'item')} in the trash of ${mount.name}`;
				findings.push(warn('trash', message, 'To list what its notes say: stowage trash recover'));
			}
			findings.push(...unnamedFindings(mount.name, (await unrecordedOn(mount.storage)).unknown));
		} catch (error) {
			// Its root has a finding of its own.
			if (!isFailure(error, 'unavailable')) throw error;
		}
	}
	return findings;
}

/** What lies in the trash of a root under a name that does not say whose it was: it is in no list. */
function unnamedFindings(root: string, [first, ...others]: readonly string[]): Finding[] {
	if (first === undefined) return [];
	const more = others.length === 0 ? '' : ` and ${plural(others.length, 'other')}`;
	const message = `the trash of ${root} has something of nobody that no list shows: ${JSON.stringify(first)}${more}`;
	return [
		warn('trash', message, `Look at ${unrecordedFolder} in that root, and move what is wanted to where it belongs`),
	];
}

/** What was removed for good and can't be, such as files of another account in a folder that was deleted. */
async function checkLeftovers({ roots }: Services, now: number): Promise<Finding[]> {
	const findings: Finding[] = [];
	for (const { name, storage } of roots.all()) {
		if (!hasLeftovers(storage)) continue;
		try {
			const [first, ...others] = await storage.findLeftovers(now - removingMs);
			if (first === undefined) continue;
			const more = others.length === 0 ? '' : ` and ${plural(others.length, 'other')}`;
			const message = `${name}: ${first}${more} can’t be removed, and ${more === '' ? 'takes' : 'take'} room`;
			const remedy =
				'Unless a very large folder is being removed just now: look at whose files are in there and what is mounted there, and remove it by hand. The server tries it at each start, and logs why it can’t.';
			findings.push(warn('leftovers', message, remedy));
		} catch (error) {
			// Its root has a finding of its own.
			if (!isFailure(error, 'unavailable')) throw error;
		}
	}
	return findings;
}

async function findingsOf(
	root: RootState,
	drivers: ReadonlyMap<string, unknown>,
	services: Services,
): Promise<Finding[]> {
	const { name, rootId, location, fault: reason } = root;
	const what = 'storage root';
	const called = location === null ? name : `${name} (${location})`;
	if (reason !== null) return [fault(what, `${called}: ${reason}`, await remedyOf(root, drivers))];
	return [
		ok(what, `${called}: there, writable, and the one that the database knows (${rootId})`),
		await spaceFinding(root, services),
		...(await watchFindings(root, services)),
	];
}

/** Whether the changes of other programs are noticed as they happen. */
async function watchFindings({ name, rootId }: RootState, { roots }: Services): Promise<Finding[]> {
	const mount = roots.all().find(({ storage }) => storage.rootId === rootId);
	if (mount === undefined) return [];
	const what = 'changes';
	switch (await checkWatch(mount.storage)) {
		case 'watched':
			return [ok(what, `${name}: the system reports changes of folders as they happen`)];
		case 'polled':
			return [ok(what, `${name}: open folders are polled for changes, as its file system doesn't report them`)];
		case 'limitReached':
			return [
				warn(
					what,
					`${name}: open folders are polled for changes, as the system allows no more watches`,
					`Raise its limits, and keep them in /etc/sysctl.d/: ${moreWatches}`,
				),
			];
	}
}

async function spaceFinding(
	{ name, isDefault, freeBytes, totalBytes }: RootState,
	{ storage }: Services,
): Promise<Finding> {
	if (freeBytes === null) return ok('space', `${name}: free space unknown, its storage can’t tell`);
	if (totalBytes === null) return ok('space', `${name}: ${formatListSize(freeBytes)} free`);
	const space = `${name}: ${formatListSize(freeBytes)} of ${formatListSize(totalBytes)} free`;
	if (freeBytes >= totalBytes * littleSpace) return ok('space', space);
	// What visitors have uploaded lies on the default root.
	const purge = isDefault && (await hasVisitorFiles(storage)) ? 'stowage public purge --permanent, ' : '';
	return warn('space', space, `Make room: ${purge}quotas, or a larger disk.`);
}

async function hasVisitorFiles(storage: Services['storage']): Promise<boolean> {
	try {
		for await (const _ of visitorFiles(storage, Number.POSITIVE_INFINITY)) return true;
	} catch (error) {
		// Where they can't be listed they can't be purged either.
		if (!isFailure(error)) throw error;
	}
	return false;
}

async function remedyOf(
	{ driver, location, rootId }: RootState,
	drivers: ReadonlyMap<string, unknown>,
): Promise<string> {
	if (!drivers.has(driver)) return `Install the plugin that offers the storage ${driver}, and name it below plugins.`;
	// The first root, which is not recorded yet: a problem with its folder was reported above.
	if (rootId === '') return 'Move the file away, or name a folder that the server\u2019s user may make and write to.';
	if (location !== null && (await isFile(location)))
		return `Move the file away that lies in ${location}, and mount the disk of the root there.`;
	return mountAgain(location ?? 'the folder');
}

async function isFile(location: string): Promise<boolean> {
	try {
		return path.isAbsolute(location) && !(await stat(location)).isDirectory();
	} catch {
		// A missing or inaccessible file is not in the way.
		return false;
	}
}

function mountAgain(folder: string): string {
	return `Mount its disk, the one that was there, for writing; ${folder} and .stowage/ in it belong to the server\u2019s user.`;
}
