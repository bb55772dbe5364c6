import type { Stats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import path from 'node:path';
import { ConfigError } from './load.js';

/** As in the kernel. */
const maxLinks = 40;

export interface Step {
	path: string;
	/** Missing where nothing is there, and that is the last step. */
	stat: Stats | undefined;
}

/** Every folder and link on the way to a file or folder, and that itself. Links are followed by hand. Throws ConfigError. */
export async function* walkPath(file: string): AsyncGenerator<Step> {
	const left = partsOf(path.resolve(file));
	let at = '/';
	let links = 0;
	for (let part = left.shift(); part !== undefined; part = left.shift()) {
		if (part === '..') at = path.dirname(at);
		if (part === '..' || part === '.') continue;
		const next = path.join(at, part);
		const stat = await statOf(next);
		yield { path: next, stat };
		if (stat === undefined) return;
		if (!stat.isSymbolicLink()) at = next;
		else {
			if (++links > maxLinks) throw new ConfigError(`There are too many links on the way to ${file}.`);
			const target = await readlink(next);
			if (path.isAbsolute(target)) at = '/';
			left.unshift(...partsOf(target));
		}
	}
}

function partsOf(file: string): string[] {
	return file.split('/').filter((part) => part !== '');
}

async function statOf(file: string): Promise<Stats | undefined> {
	try {
		return await lstat(file);
	} catch (cause) {
		const { code } = cause as NodeJS.ErrnoException;
		if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
		throw new ConfigError(`${file} can't be looked at (${code}).`, { cause });
	}
}
