import path from 'node:path';

/** Used where this process was started without a PATH. */
const systemFolders = ['/usr/bin', '/bin'];

/** The folders in which this process looks for programs. */
export function programFolders(): string[] {
	const own = (process.env.PATH ?? '').split(path.delimiter).filter(path.isAbsolute);
	return own.length > 0 ? own : systemFolders;
}

/**
 * What a program has of the environment of this process, which holds secrets: where programs are, those of the system last. Some of them
 * set limits and confine others, also where this process was started with a PATH that lacks them.
 */
export function programEnvironment(): Record<string, string> {
	return { PATH: [...new Set([...programFolders(), ...systemFolders])].join(path.delimiter), LANG: 'C.UTF-8' };
}
