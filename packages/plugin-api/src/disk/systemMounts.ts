import { readFile } from 'node:fs/promises';

export interface SystemMount {
	id: string;
	/** The number of the file system's device, such as `8:1`. */
	device: string;
	/** The mounted folder of the file system: `/` unless it is a bind mount of a subfolder. */
	folder: string;
	/** Where. */
	point: string;
	/** The options of the mount, and those of its file system. */
	options: readonly string[];
}

/**
 * The mounts in the order of mounting (proc_pid_mountinfo(5)): the last mount at a path covers those before it. Empty
 * if the system has no such list.
 */
export async function listMounts(): Promise<SystemMount[]> {
	const lines = (await readFile('/proc/self/mountinfo', 'utf8').catch(() => '')).split('\n');
	return lines.flatMap((line) => {
		const fields = line.split(' ').map(unescapeOctal);
		const [id, , device, folder, point, own] = fields;
		if (id === undefined || device === undefined || folder === undefined || point === undefined) return [];
		const options = `${own},${fields[fields.indexOf('-') + 3]}`.split(',');
		return [{ id, device, folder, point, options }];
	});
}

/** The escape of a space in a path, in the lists of mounts: `\040`. */
export const unescapeOctal = (text: string): string =>
	text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
