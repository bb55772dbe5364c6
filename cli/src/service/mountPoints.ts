import { access, readdir, readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { listMounts, unescapeOctal } from '@stowage/core';

/** Folders of the system that may be file systems of their own, and are mounted permanently. */
const systemFolders = [
	...['/', '/boot', '/dev', '/etc', '/home', '/opt', '/proc', '/root', '/run', '/sys', '/tmp', '/usr', '/var'],
	'/var/lib',
];

/**
 * The path that a unit needs so that the service may write to a folder: the mount point of its disk, if it has one of its own. systemd
 * mounts each folder that a unit names onto itself. One below the mount point would stay in the service after the disk was unmounted: the
 * service would keep the disk busy, and not see the disk that is mounted next.
 */
export async function writableUnitPath(folder: string): Promise<string> {
	const real = await resolved(folder);
	const above = (await mountPoints()).filter((point) => real === point || real.startsWith(`${point}/`));
	const nearest = above.reduce((longest, point) => (point.length > longest.length ? point : longest), '/');
	return systemFolders.includes(nearest) ? folder : nearest;
}

/**
 * Whether the disk of a root that was added is not mounted and nothing configures where: its mount point is one of the folders on the
 * way, and a unit that names another of them keeps the disk from the service.
 */
export async function isMountPointUnknown(folder: string): Promise<boolean> {
	const isThere = await access(path.join(folder, '.stowage')).then(
		() => true,
		() => false,
	);
	return !isThere && (await writableUnitPath(folder)) === folder;
}

/** The path with all links resolved in the part of it that exists. */
async function resolved(folder: string): Promise<string> {
	try {
		return await realpath(folder);
	} catch {
		return folder === '/' ? folder : path.join(await resolved(path.dirname(folder)), path.basename(folder));
	}
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
	return [...mounted, ...planned, ...(await mountUnits())];
}

/** The mount points that units of systemd have. */
async function mountUnits(): Promise<string[]> {
	const folders = ['/etc/systemd/system', '/run/systemd/system', '/usr/local/lib/systemd/system'];
	const found = folders.map(async (folder) => {
		// Not every system has each of them.
		const names = await readdir(folder).catch(() => []);
		const texts = names
			.filter((name) => /\.(auto)?mount$/.test(name))
			.map((name) => readFile(path.join(folder, name), 'utf8').catch(() => ''));
		return (await Promise.all(texts)).flatMap((text) => /^Where=(\/.*)$/m.exec(text)?.[1]?.trim() ?? []);
	});
	return (await Promise.all(found)).flat();
}
