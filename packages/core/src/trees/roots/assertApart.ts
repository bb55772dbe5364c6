import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { listMounts } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';

/**
 * Throws `invalid` where a folder of this machine lies inside another root, or another root inside it: each would
 * serve the other's files, with its private folder. Folders are compared as objects and by their place on their file
 * system, so links and other mounts are seen through, also those of a folder inside a root.
 */
export async function assertApart(
	location: string,
	others: readonly { name: string; location: string }[],
): Promise<void> {
	if (!path.isAbsolute(location)) return;
	const own = await positionOf(location);
	for (const other of others) {
		if (!path.isAbsolute(other.location)) continue;
		const theirs = await positionOf(other.location);
		// The same folder is recognized by the id in it.
		if (own.folder !== undefined && own.folder === theirs.folder) continue;
		const isInside = liesInside(own, theirs);
		if (!isInside && !liesInside(theirs, own)) continue;
		const how = isInside ? `lies inside ${other.name}` : `holds ${other.name}`;
		throw new Failure('invalid', `${location} ${how}, in ${other.location}: roots lie beside each other.`);
	}
}

/** A folder that is something else than a storage root. */
export interface ReservedFolder {
	location: string;
	/** Such as `the audit log`. */
	what: string;
	/** Whether a root below it is fine, as below the data folder. */
	allowsBelow: boolean;
}

/**
 * Throws `invalid` where a folder of this machine is a reserved one or holds one, or lies inside one that allows that
 * to none. Compared as in `assertApart`.
 */
export async function assertUnreserved(location: string, reserved: readonly ReservedFolder[]): Promise<void> {
	if (!path.isAbsolute(location)) return;
	const own = await positionOf(location);
	for (const each of reserved) {
		const theirs = await positionOf(each.location);
		const how = relationOf(own, theirs, each.allowsBelow);
		if (how === undefined) continue;
		const says = `${location} can't be a storage root, for it ${how} ${each.what} (${each.location})`;
		throw new Failure('invalid', `${says}: name a folder for files alone.`);
	}
}

/** What a root serves, and where it keeps what is being written: what else lies in its folder is nobody's to see. */
const servedFolders = ['users', 'Public', '.stowage'];

/**
 * Throws `invalid` where the configured root would serve what is somebody else's: what lies in a reserved folder or another root, or has
 * one of these among what it serves itself. Beside that it may hold them, as where the data folder lies on the disk that is the root:
 * unlike roots that are added, it was there before anybody compared it.
 */
export async function assertFirstApart(
	location: string,
	others: readonly { name: string; location: string }[],
	reserved: readonly ReservedFolder[],
): Promise<void> {
	if (!path.isAbsolute(location)) return;
	const own = await positionOf(location);
	const served = await Promise.all(servedFolders.map((name) => positionOf(path.join(location, name))));
	const refuse = (how: string, what: string, place: string) => {
		const message = `${location} can't be the first storage root, for it ${how} ${what} (${place})`;
		throw new Failure('invalid', `${message}: name a folder for files alone.`);
	};
	for (const { location: place, what, allowsBelow } of reserved) {
		const theirs = await positionOf(place);
		if (!allowsBelow && isIn(own, theirs)) refuse('lies in', what, place);
		if (served.some((part) => isIn(theirs, part))) refuse('would serve', what, place);
	}
	for (const { name, location: place } of others) {
		if (!path.isAbsolute(place)) continue;
		const theirs = await positionOf(place);
		if (served.some((part) => isIn(theirs, part))) refuse('would serve', name, place);
		const parts = await Promise.all(servedFolders.map((each) => positionOf(path.join(place, each))));
		if (parts.some((part) => isIn(own, part))) refuse('lies in what is served of', name, place);
	}
}

const isIn = (inner: Position, outer: Position): boolean =>
	inner.id === outer.id || (inner.onDisk !== undefined && inner.onDisk === outer.onDisk) || liesInside(inner, outer);

function relationOf(own: Position, theirs: Position, allowsBelow: boolean): string | undefined {
	if (own.id === theirs.id || (own.onDisk !== undefined && own.onDisk === theirs.onDisk)) return 'is';
	if (liesInside(theirs, own)) return 'holds';
	return !allowsBelow && liesInside(own, theirs) ? 'lies inside' : undefined;
}

interface Position {
	/** The folder as an object, and below it the names that are still to be made. */
	id: string;
	/** The folder itself as an object, unless it is still to be made. */
	folder: string | undefined;
	/** The folders above it, as objects. */
	above: string[];
	/** The file system and the path on it, such as `8:1/photos`: the same through every mount. Unknown where the system lists no mounts. */
	onDisk: string | undefined;
}

const liesInside = (inner: Position, outer: Position): boolean =>
	(outer.folder !== undefined && inner.above.includes(outer.folder)) ||
	inner.id.startsWith(`${outer.id}/`) ||
	(outer.onDisk !== undefined && inner.onDisk?.startsWith(`${outer.onDisk}/`) === true);

async function positionOf(location: string): Promise<Position> {
	let missing: string[] = [];
	let real: string | undefined;
	for (let at = path.resolve(location); real === undefined; at = path.dirname(at)) {
		try {
			real = await realpath(at);
		} catch (error) {
			// Not there yet, or not for us to see: then those above it count.
			if (at === path.dirname(at)) throw error;
			missing.unshift(path.basename(at));
		}
	}
	const whole = path.join(real, ...missing);
	let objects: string[] = [];
	for (let folder = real; ; folder = path.dirname(folder)) {
		const above = path.dirname(folder);
		try {
			const { dev, ino } = await stat(folder, { bigint: true });
			objects.push(`${dev}:${ino}`);
		} catch (error) {
			// Removed since then, with all in it.
			if (folder === above) throw error;
			objects = [];
			missing = path.relative(above, whole).split(path.sep);
		}
		if (folder === above) break;
	}
	const onDisk = await placeOnDisk(whole);
	const id = [objects[0], ...missing].join('/');
	return missing.length === 0
		? { id, folder: objects[0], above: objects.slice(1), onDisk }
		: { id, folder: undefined, above: objects, onDisk };
}

/** The file system and the path on it. The mount that holds a path is the nearest above it. */
async function placeOnDisk(real: string): Promise<string | undefined> {
	let place: string | undefined;
	let nearest = 0;
	for (const { device, folder, point } of await listMounts()) {
		const below = path.relative(point, real);
		if (point.length < nearest || below === '..' || below.startsWith('../')) continue;
		nearest = point.length;
		place = `${device}${path.join(folder, below)}`.replace(/\/$/, '');
	}
	return place;
}
