import { readFileSync } from 'node:fs';
import { listMounts } from '@stowage/plugin-api';
import { fstatSync } from './descriptors.js';
import { isSystemError } from './systemErrors.js';

/**
 * Names the mount through which an object was opened. The device does not: a folder of the same disk that is mounted once more (a bind
 * mount) has the same. Where the system does not tell mounts, it is all there is.
 */
export function mountOf(fd: number): string {
	try {
		const id = /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1];
		if (id !== undefined) return id;
	} catch (error) {
		if (!isSystemError(error, 'ENOENT', 'ENOTDIR')) throw error;
	}
	return `device ${fstatSync(fd, { bigint: true }).dev}`;
}

/** The paths at which something is mounted; none where the system has no list of mounts. */
export const mountPoints = async (): Promise<string[]> => (await listMounts()).map(({ point }) => point);
