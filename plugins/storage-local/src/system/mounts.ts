import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
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

/** The paths at which something is mounted (proc_pid_mountinfo(5)); none where the system has no such list. */
export async function mountPoints(): Promise<string[]> {
	const lines = (await readFile('/proc/self/mountinfo', 'utf8').catch(() => '')).split('\n');
	return lines.flatMap((line) => {
		const point = line.split(' ')[4];
		return point === undefined ? [] : [unescapeOctal(point)];
	});
}

/** The escape of a space: `\040`. */
const unescapeOctal = (text: string): string =>
	text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
