import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The ids of an account of this machine. */
export interface AccountIds {
	uid: number;
	/** The primary group. */
	gid: number;
	/** All groups, the primary one too. */
	groups: number[];
}

/** The account of a name or a number; undefined where this machine has none. */
export async function accountOf(user: string | number): Promise<AccountIds | undefined> {
	const [[uid], [gid], groups] = await Promise.all([idsOf('-u', user), idsOf('-g', user), idsOf('-G', user)]);
	return uid === undefined || gid === undefined ? undefined : { uid, gid, groups };
}

async function idsOf(option: string, user: string | number): Promise<number[]> {
	try {
		const { stdout } = await run('id', [option, '--', String(user)]);
		return stdout.trim().split(/\s+/).map(Number);
	} catch {
		// No such account, or an image without the program: then the numbers alone count.
		return [];
	}
}

/** The number of a group of this machine, by its name or number; undefined where there is none. */
export async function groupOf(group: string): Promise<number | undefined> {
	if (/^\d+$/.test(group)) return Number(group);
	try {
		const { stdout } = await run('getent', ['group', group]);
		return Number(stdout.split(':')[2]);
	} catch {
		return undefined;
	}
}
