import * as fs from 'node:fs';
import type { AccessPart, ItemAccess } from '@stowage/plugin-api';
import { baseName, rootPath, type StoragePath } from '@stowage/rules';
import type { Disk } from '../root/Disk.js';
import { randomName, scratchPrefix, stagingFolder } from '../root/privateFolder.js';
import { close, fchmod, fchown, fsync, mkdir, open, rmdir, unlink } from '../system/descriptors.js';
import { type ObjectType, typeOfMode } from '../system/fileStat.js';
import { type Folder, readFileFlags } from '../system/openFolder.js';
import { ignoreMissing, isSystemError, noSuchEntry } from '../system/systemErrors.js';

type ItemType = 'file' | 'directory';

const setgid = 0o2000;
/** The bits that matter: a file of another user that runs with its owner's rights would run with the server's. */
const modeBits = { file: 0o777, directory: 0o3777 };

const aclName = 'system.posix_acl_access';
const defaultAclName = 'system.posix_acl_default';

/** The modes that programs ask for when they make a file or a folder, before the umask or a default ACL takes from them. */
const requestedModes = { file: 0o666, directory: 0o777 };

/**
 * Gives a staged file or folder, open as `fd`, the group, mode and ACL that it would have if it had been made in `folder` (open(2),
 * acl(5)): the staging folder, in which it was made, has others. A group that the process is not a member of is left as it is, since only
 * the kernel may give a file to it.
 */
export async function inheritAccess(disk: Disk, folder: Folder, fd: number, type: ItemType): Promise<void> {
	const parent = await disk.ownershipOf(folder.fd);
	const inherited = await disk.attributeOf(folder.fd, defaultAclName);
	const list = inherited && limitAcl(inherited, requestedModes[type]);
	const isShared = (parent.mode & setgid) !== 0;
	const permissions = list === undefined ? requestedModes[type] & ~currentUmask() : modeOf(list);
	await applyAccess(disk, fd, type, {
		group: isShared ? parent.gid : (process.getegid?.() ?? parent.gid),
		mode: isShared && type === 'directory' ? permissions | setgid : permissions,
		// A list of nothing but the three classes is the mode.
		...(list !== undefined && isExtended(list) ? { acl: list } : {}),
		...(inherited !== undefined && type === 'directory' ? { defaultAcl: inherited } : {}),
	});
}

/** The umask of this process. Node's own call changes it for a moment, in which another thread may make a file. */
function currentUmask(): number {
	const [, digits] = /^Umask:\s*([0-7]+)$/m.exec(readStatus()) ?? [];
	return digits === undefined ? process.umask() : Number.parseInt(digits, 8);
}

function readStatus(): string {
	try {
		return fs.readFileSync('/proc/self/status', 'latin1');
	} catch {
		// Not on this system.
		return '';
	}
}

/** The access of the item at a path. */
export function readAccess(disk: Disk, path: StoragePath): Promise<ItemAccess> {
	return withItem(disk, path, (fd, type) => accessOf(disk, fd, type));
}

/** Sets the access of the item at a path, as far as the process may; durable once it resolves. */
export function writeAccess(disk: Disk, path: StoragePath, access: ItemAccess): Promise<void> {
	return withItem(disk, path, async (fd, type) => {
		if (await applyAccess(disk, fd, type, access)) await fsync(fd);
	});
}

/** What an item would lack after `writeAccess`, tried with one in the staging folder. */
export async function findLostAccess(disk: Disk, type: ItemType, wanted: ItemAccess): Promise<AccessPart[]> {
	using staging = await disk.privateFolder(stagingFolder, 'path');
	const place = staging.at(`${scratchPrefix}${randomName()}`);
	const fd = await openScratch(place, type);
	try {
		await applyAccess(disk, fd, type, wanted);
		const found = await accessOf(disk, fd, type);
		const lost: AccessPart[] = [];
		if (found.owner !== wanted.owner) lost.push('owner');
		if (found.group !== wanted.group) lost.push('group');
		if (found.mode !== (wanted.mode & modeBits[type])) lost.push('mode');
		if (!isSameList(found.acl, wanted.acl) || !isSameList(found.defaultAcl, wanted.defaultAcl)) lost.push('acl');
		return lost;
	} finally {
		await close(fd);
		await (type === 'directory' ? rmdir(place) : unlink(place)).catch(ignoreMissing);
	}
}

/** Makes and opens an empty item. A folder that a sweep of leftovers removes between the two is made once more. */
async function openScratch(place: string, type: ItemType): Promise<number> {
	const { O_CREAT, O_EXCL, O_RDWR } = fs.constants;
	if (type === 'file') return open(place, O_CREAT | O_EXCL | O_RDWR, 0o600);
	for (;;) {
		await mkdir(place);
		try {
			return await open(place, readFileFlags);
		} catch (error) {
			ignoreMissing(error);
		}
	}
}

async function withItem<T>(disk: Disk, path: StoragePath, use: (fd: number, type: ItemType) => Promise<T>): Promise<T> {
	if (path === rootPath) {
		using root = await disk.folder(path, 'read');
		return await use(root.fd, 'directory');
	}
	using folder = await disk.parentOf(path, 'path');
	const fd = await open(folder.at(baseName(path)), readFileFlags);
	try {
		const type: ObjectType = typeOfMode((await disk.ownershipOf(fd)).mode);
		if (type === 'other') throw noSuchEntry(path);
		return await use(fd, type);
	} finally {
		await close(fd);
	}
}

async function accessOf(disk: Disk, fd: number, type: ItemType): Promise<ItemAccess> {
	const { mode, uid, gid } = await disk.ownershipOf(fd);
	const acl = await disk.attributeOf(fd, aclName);
	const defaultAcl = type === 'directory' ? await disk.attributeOf(fd, defaultAclName) : undefined;
	return {
		owner: uid,
		group: gid,
		mode: mode & modeBits[type],
		...(acl === undefined ? {} : { acl }),
		...(defaultAcl === undefined ? {} : { defaultAcl }),
	};
}

/** Changes what differs, as far as the process may. Resolves to whether there was a difference. */
async function applyAccess(
	disk: Disk,
	fd: number,
	type: ItemType,
	{ group, mode, acl, defaultAcl }: Omit<ItemAccess, 'owner'>,
): Promise<boolean> {
	const own = await accessOf(disk, fd, type);
	const isSame = own.group === group && isSameList(own.acl, acl) && isSameList(own.defaultAcl, defaultAcl);
	if (own.group !== group) await permitted(fchown(fd, -1, group));
	if (!isSameList(own.acl, acl)) await permitted(setList(disk, fd, aclName, acl));
	if (!isSameList(own.defaultAcl, defaultAcl)) await permitted(setList(disk, fd, defaultAclName, defaultAcl));
	// A list and a group change the mode, too.
	const { mode: current } = isSame ? own : await disk.ownershipOf(fd);
	const wanted = mode & modeBits[type];
	if ((current & modeBits[type]) === wanted) return !isSame;
	await permitted(fchmod(fd, wanted));
	return true;
}

async function setList(disk: Disk, fd: number, name: string, list: Uint8Array | undefined): Promise<void> {
	if (list === undefined) await disk.calls.attributes?.remove(fd, name);
	else await disk.calls.attributes?.write(fd, name, Buffer.from(list));
}

/** Ignores a refusal of the system: the object keeps what it has. */
async function permitted(change: Promise<void>): Promise<void> {
	try {
		await change;
	} catch (error) {
		if (!isSystemError(error, 'EPERM', 'EINVAL', 'EOPNOTSUPP', 'ENOTSUP')) throw error;
	}
}

function isSameList(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
	return one === undefined || other === undefined ? one === other : Buffer.compare(one, other) === 0;
}

// The format of the attributes: a version (4 bytes), then for each entry its tag (2), permissions (2) and id (4), all in little endian.
const entryBytes = 8;
const headerBytes = 4;
const tags = { owner: 0x01, group: 0x04, mask: 0x10, others: 0x20 };

/** The offsets of the entries of an ACL, by their tags; of several of one tag, as for named users, the last one. */
function entriesOf(acl: Buffer): Map<number, number> {
	const entries = new Map<number, number>();
	for (let at = headerBytes; at + entryBytes <= acl.length; at += entryBytes) entries.set(acl.readUInt16LE(at), at);
	return entries;
}

/**
 * The entries that a mode limits and shows: of the owner, of the mask (or the group where there is no mask) and of all others, with their
 * shifts in the mode.
 */
function classesOf(acl: Buffer): { at: number; shift: number }[] {
	const entries = entriesOf(acl);
	const classes = [
		{ at: entries.get(tags.owner), shift: 6 },
		{ at: entries.get(tags.mask) ?? entries.get(tags.group), shift: 3 },
		{ at: entries.get(tags.others), shift: 0 },
	];
	return classes.flatMap(({ at, shift }) => (at === undefined ? [] : { at, shift }));
}

/** The ACL of an object that is made with `mode` in a folder with this default ACL, as the kernel makes it. */
function limitAcl(inherited: Buffer, mode: number): Buffer {
	const acl = Buffer.from(inherited);
	for (const { at, shift } of classesOf(acl))
		acl.writeUInt16LE(acl.readUInt16LE(at + 2) & (mode >> shift) & 0o7, at + 2);
	return acl;
}

function modeOf(acl: Buffer): number {
	return classesOf(acl).reduce((mode, { at, shift }) => mode | (acl.readUInt16LE(at + 2) << shift), 0);
}

function isExtended(acl: Buffer): boolean {
	return acl.length > headerBytes + 3 * entryBytes;
}
