import { constants } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { closeSync, open, unlink } from '../system/descriptors.js';
import { deviceOf, type Folder } from '../system/openFolder.js';
import type { SystemCalls } from '../system/systemCalls.js';
import type { Disk } from './Disk.js';
import { randomName, scratchPrefix, stagingFolder } from './privateFolder.js';

/** Why several machines must not change a root at once: a sentence for each ability that its file system lacks. */
export async function sharingFaults(disk: Disk): Promise<string[]> {
	using staging = await disk.privateFolder(stagingFolder, 'path');
	const faults: string[] = [];
	if (!(await disk.renameFlag.isSupported()))
		faults.push('A rename may replace what has the name: its file system can’t refuse that.');
	if (!(await excludesOthers(disk.calls, staging))) faults.push('Its file system has no locks.');
	else if (hasOwnLocksOnly(await readMounts(), deviceOf(disk.calls, staging)))
		faults.push('Locks hold on one machine only: it is mounted so.');
	return faults;
}

/** Whether a lock of a file keeps another opening of the same file out. */
async function excludesOthers({ tryLock }: SystemCalls, folder: Folder): Promise<boolean> {
	if (tryLock === undefined) return false;
	const name = folder.at(scratchPrefix + randomName());
	const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;
	const opened = [await open(name, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR, 0o600)];
	try {
		opened.push(await open(name, O_NOFOLLOW | O_RDWR));
		const [one, other] = opened.map((fd) => tryLock(fd));
		return one === true && other === false;
	} finally {
		// The rest is swept once it is old.
		await unlink(name).catch(() => {});
		for (const fd of opened) closeSync(fd);
	}
}

function readMounts(): Promise<string> {
	return readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
}

/** Whether the options of an NFS mount (nfs(5)) keep locks on this machine. `mounts` is of the form of proc_pid_mountinfo(5). */
export function hasOwnLocksOnly(mounts: string, device: bigint): boolean {
	// As makedev(3) puts it together.
	const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn);
	const minor = (device & 0xffn) | ((device >> 12n) & ~0xffn);
	return mounts.split('\n').some((line) => {
		const [before = '', after = ''] = line.split(' - ');
		const [type = '', , options = ''] = after.split(' ');
		if (before.split(' ')[2] !== `${major}:${minor}` || !type.startsWith('nfs')) return false;
		return options.split(',').some((option) => ['nolock', 'local_lock=flock', 'local_lock=all'].includes(option));
	});
}
