import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { root } from '../run.js';

const execute = promisify(execFile);

/**
 * The version of this build, such as `0.1.0+202611230542.bedd52c`: the package's with the time (UTC) and the name of
 * the commit. Without git it is the package's alone.
 */
export async function buildVersion(version) {
	const commit = await git('log', '-1', '--abbrev=7', '--date=format-local:%Y%m%d%H%M', '--format=%cd.%h');
	if (commit === undefined) return version;
	const isChanged = (await git('status', '--porcelain', '--untracked-files=no')) !== '';
	// With the time, so that a later build is an upgrade of one of the same day.
	return `${version}+${commit}${isChanged ? '.changed' : ''}`;
}

/** What the changelog says: the time of the last commit as in mails, and the subjects of the last ones. */
export async function recentChanges() {
	const time = await git('log', '-1', '--format=%cD');
	const subjects = await git('log', '-200', '--no-merges', '--format=%s');
	return time === undefined || subjects === undefined ? undefined : { time, subjects: subjects.split('\n') };
}

/** The output of a command of git; undefined where this is not the folder of a clone, or git is missing. */
async function git(...args) {
	// Another project's clone may be around this folder.
	if (!existsSync(path.join(root, '.git'))) return undefined;
	try {
		const { stdout } = await execute('git', ['-C', root, ...args], { env: { ...process.env, TZ: 'UTC' } });
		return stdout.trim();
	} catch {
		return undefined;
	}
}
