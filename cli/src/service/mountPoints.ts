import { readFile, realpath } from 'node:fs/promises';
import { listMounts, unescapeOctal } from '@stowage/core';

/** Folders of the system that may be file systems of their own, and are mounted permanently. */
const systemFolders = ['/', '/boot', '/etc', '/home', '/opt', '/root', '/tmp', '/usr', '/var', '/var/lib'];

/**
 * The path that a unit needs so that the service may write to a folder: the mount point of its disk, if it has one of its own. systemd mounts each folder that a unit
 * names onto itself. One below the mount point would stay in the service after the disk was unmounted: the service would keep the disk busy, and not see the disk
 * that is mounted next.
 */
export async function writableUnitPath(folder: string): Promise<string> {
	const real = await realpath(folder).catch(() => folder);
	const above = (await mountPoints()).filter((point) => real === point || real.startsWith(`${point}/`));
	const nearest = above.reduce((longest, point) => (point.length > longest.length ? point : longest), '/');
	return systemFolders.includes(nearest) ? folder : nearest;
}

/** The current and the configured mounts: a disk may be unmounted while the unit is written. */
async function mountPoints(): Promise<string[]> {
	const mounted = (await listMounts()).map(({ point }) => point);
	// Not every system that prints a unit has it.
	const lines = (await readFile('/etc/fstab', 'utf8').catch(() => '')).split('\n');
	const planned = lines.flatMap((line) => {
		const point = line.trim().startsWith('#') ? undefined : line.trim().split(/\s+/)[1];
		return point?.startsWith('/') ? [unescapeOctal(point)] : [];
	});
	return [...mounted, ...planned];
}
