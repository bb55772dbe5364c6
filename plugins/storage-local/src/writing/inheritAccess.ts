import type { Disk } from '../root/Disk.js';
import { fchmod, fchown } from '../system/descriptors.js';
import type { Folder } from '../system/openFolder.js';
import { isSystemError } from '../system/systemErrors.js';
import { currentUmask } from '../system/umask.js';

const setgid = 0o2000;
const permissionBits = 0o7777;

const accessAcl = 'system.posix_acl_access';
const defaultAcl = 'system.posix_acl_default';

/** The modes that programs ask for when they make a file or a folder, before the umask or a default ACL takes from them. */
const requestedModes = { file: 0o666, directory: 0o777 };

/**
 * Gives a staged file or folder, open as `fd`, the group, mode and ACL that it would have if it had been made in `folder` (open(2), acl(5)): the staging folder, in
 * which it was made, has others. A group that the process is not a member of is left as it is, since only the kernel may give a file to it.
 */
export async function inheritAccess(disk: Disk, folder: Folder, fd: number, type: 'file' | 'directory'): Promise<void> {
	const [parent, own] = [await disk.ownershipOf(folder.fd), await disk.ownershipOf(fd)];
	const isShared = (parent.mode & setgid) !== 0;
	const group = isShared ? parent.gid : process.getegid?.();
	if (group !== undefined && own.gid !== group) await permitted(fchown(fd, -1, group));
	const inherited = await disk.attributeOf(folder.fd, defaultAcl);
	if (inherited === undefined) await dropAcls(disk, fd, type);
	else {
		// It sets the mode too.
		await disk.calls.attributes?.write(fd, accessAcl, limitAcl(inherited, requestedModes[type]));
		if (type === 'directory') await disk.calls.attributes?.write(fd, defaultAcl, inherited);
	}
	const { mode } = await disk.ownershipOf(fd);
	const access = inherited === undefined ? requestedModes[type] & ~currentUmask() : mode & ~setgid;
	const wanted = access | (isShared && type === 'directory' ? setgid : 0);
	if ((mode & permissionBits) !== (wanted & permissionBits)) await permitted(fchmod(fd, wanted & permissionBits));
}

/** Removes the ACLs that it has from the staging folder. */
async function dropAcls(disk: Disk, fd: number, type: 'file' | 'directory'): Promise<void> {
	for (const name of type === 'file' ? [accessAcl] : [accessAcl, defaultAcl]) {
		if ((await disk.attributeOf(fd, name)) !== undefined) await disk.calls.attributes?.remove(fd, name);
	}
}

/** Ignores a refusal of the system: the object is published with what it has. */
async function permitted(change: Promise<void>): Promise<void> {
	try {
		await change;
	} catch (error) {
		if (!isSystemError(error, 'EPERM', 'EINVAL')) throw error;
	}
}

const entryBytes = 8;
const headerBytes = 4;
const tags = { owner: 0x01, group: 0x04, mask: 0x10, others: 0x20 };

/**
 * The access ACL of an object that is made with `mode` in a folder with this default ACL: as the kernel does it, the entries of the owner, of the mask (or of the group
 * where there is none) and of all others are limited to the bits of the mode. The format is that of the attribute: a version (4 bytes), then for each
 * entry its tag (2), permissions (2) and id (4), all in little endian.
 */
export function limitAcl(inherited: Buffer, mode: number): Buffer {
	const acl = Buffer.from(inherited);
	const entries: { tag: number; at: number }[] = [];
	for (let at = headerBytes; at + entryBytes <= acl.length; at += entryBytes)
		entries.push({ tag: acl.readUInt16LE(at), at });
	const hasMask = entries.some(({ tag }) => tag === tags.mask);
	for (const { tag, at } of entries) {
		const bits =
			tag === tags.owner
				? mode >> 6
				: tag === tags.others
					? mode
					: tag === (hasMask ? tags.mask : tags.group)
						? mode >> 3
						: 0o7;
		acl.writeUInt16LE(acl.readUInt16LE(at + 2) & bits & 0o7, at + 2);
	}
	return acl;
}
