import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
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
	const answers = await Promise.all(['-u', '-g', '-G'].map((option) => answerOf('id', [option, '--', String(user)])));
	if (answers.includes(undefined)) return accountInFiles(String(user));
	const [[uid], [gid], groups] = answers.map((text = '') => numbersIn(text)) as [number[], number[], number[]];
	return uid === undefined || gid === undefined ? undefined : { uid, gid, groups };
}

/** The number of a group of this machine, by its name or number; undefined where there is none. A number needs no name. */
export async function groupOf(group: string): Promise<number | undefined> {
	return /^\d+$/.test(group) ? Number(group) : namedGroup(group);
}

/** Whether a group of this machine has the number. */
export async function isGroup(gid: number): Promise<boolean> {
	return (await namedGroup(String(gid))) !== undefined;
}

/** The number of a group in the database of groups. */
async function namedGroup(group: string): Promise<number | undefined> {
	const answer = await answerOf('getent', ['group', group]);
	const [found] = answer === undefined ? await groupsInFile((fields) => isNamed(fields, group)) : [fieldsOf(answer)];
	return found?.[2] === undefined ? undefined : Number(found[2]);
}

/** What the program prints, which is nothing where it fails; undefined where an image lacks it, or the PATH its folder. */
async function answerOf(program: string, words: readonly string[]): Promise<string | undefined> {
	try {
		return (await run(program, words)).stdout;
	} catch (error) {
		// An exit code is a number.
		return typeof (error as { code?: unknown }).code === 'string' ? undefined : '';
	}
}

const numbersIn = (text: string): number[] => (text.match(/\d+/g) ?? []).map(Number);

async function accountInFiles(user: string): Promise<AccountIds | undefined> {
	const [name, , uid, group] = (await linesOf('/etc/passwd')).find((fields) => isNamed(fields, user)) ?? [];
	if (name === undefined || uid === undefined || group === undefined) return undefined;
	const further = await groupsInFile(([, , , members = '']) => members.split(',').includes(name));
	const gid = Number(group);
	return { uid: Number(uid), gid, groups: [...new Set([gid, ...further.map((fields) => Number(fields[2]))])] };
}

async function groupsInFile(isWanted: (fields: string[]) => boolean): Promise<string[][]> {
	return (await linesOf('/etc/group')).filter(isWanted);
}

/** Whether the line of an account or a group is that of this name or number. */
const isNamed = ([name, , id]: readonly string[], wanted: string): boolean => name === wanted || id === wanted;

/** The lines of a database of the system's, which an image may lack. */
async function linesOf(file: string): Promise<string[][]> {
	const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
		if (error.code !== 'ENOENT') throw error;
		return '';
	});
	return text.split('\n').map(fieldsOf);
}

const fieldsOf = (line: string): string[] => line.trim().split(':');
