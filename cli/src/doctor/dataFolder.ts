import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, lstat, open, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { auditFiles, auditFolder, type Config, processesFolder } from '@stowage/core';
import { chmodCommand, type Finding, fault, ok, reasonOf, warn } from './findings.js';

/** Clocks that differ by more make times of files and ends of links wrong. */
export const maxClockErrorMs = 5_000;

export function checkUser(): Finding[] {
	if (process.geteuid?.() !== 0) return [ok('user', `runs as user ${process.geteuid?.() ?? 'of this system'}`)];
	return [
		warn(
			'user',
			'this runs as root, which may read and write everything',
			'Run the server as a user of its own: stowage service install.',
		),
	];
}

/** The folder of the database and the key, and the clock of its disk. */
export async function checkDataFolder({ audit, databaseUrl, dataDir, sessionKey }: Config): Promise<Finding[]> {
	const what = 'data folder';
	const found = await stat(dataDir).catch((error: NodeJS.ErrnoException) => error);
	if (found instanceof Error) {
		if (found.code === 'ENOENT') return [warn(what, `${dataDir} is not there yet`, 'The first start makes it.')];
		return [fault(what, `${dataDir} can't be looked at (${found.code})`, `Give the server's user the right to it.`)];
	}
	if (!found.isDirectory()) return [fault(what, `${dataDir} is no folder`, 'Set dataDir to a folder.')];
	const mayPass = await access(dataDir, constants.X_OK).then(
		() => true,
		() => false,
	);
	if (!mayPass) {
		const remedy = `Run this as the server's user; if that is this one, give it ${dataDir}.`;
		return [fault(what, `this user may not look into ${dataDir}`, remedy)];
	}
	const findings: Finding[] = [];
	// Its group may have access, such as a proxy's to files and to a socket.
	if ((found.mode & 0o027) !== 0)
		findings.push(
			warn(what, `others may open ${dataDir} (mode ${(found.mode & 0o777).toString(8)})`, chmodCommand('750', dataDir)),
		);
	findings.push(...(await checkAudit(auditFolder(dataDir), audit.record)));
	if (sessionKey === undefined) findings.push(...(await checkKey(path.join(dataDir, 'session.key'))));
	if (databaseUrl.startsWith('sqlite:')) findings.push(...(await checkProcesses(processesFolder(dataDir))));
	const probe = path.join(dataDir, `.doctor-${randomBytes(6).toString('hex')}`);
	try {
		const handle = await open(probe, 'wx', 0o600);
		const { mtimeMs } = await handle.stat().finally(() => handle.close());
		await rm(probe);
		findings.push(ok(what, `${dataDir} can be written to`), clockFinding('the disk of the data folder', mtimeMs));
	} catch (error) {
		findings.push(fault(what, `${dataDir} can't be written to: ${reasonOf(error)}`, remedyOf(error, dataDir)));
	}
	return findings;
}

function remedyOf(error: unknown, dataDir: string): string {
	const { code } = error as NodeJS.ErrnoException;
	if (code === 'ENOSPC' || code === 'EDQUOT') return 'Make room on its disk.';
	if (code === 'EROFS')
		return 'Mount its disk for writing; a disk that has become read-only by itself is faulty: see dmesg.';
	return `Run this as the server's user; if that is this one, give it ${dataDir}.`;
}

async function checkAudit(folder: string, record: Config['audit']['record']): Promise<Finding[]> {
	const what = 'audit log';
	if (record === 'off') return [ok(what, 'turned off')];
	const found = await stat(folder).catch((error: NodeJS.ErrnoException) => error);
	if (found instanceof Error) {
		if (found.code === 'ENOENT') return [ok(what, 'nothing was recorded yet')];
		return [fault(what, `${folder} can't be looked at (${found.code})`, "give it to the server's user (chown -h).")];
	}
	if ((found.mode & 0o077) !== 0) return [warn(what, `others may open ${folder}`, chmodCommand('700', folder))];
	const isUsable = await access(folder, constants.W_OK | constants.X_OK).then(
		() => true,
		() => false,
	);
	if (!isUsable)
		return [
			fault(what, `${folder} can't be written to, so its lines are lost`, "give it to the server's user (chown -h)."),
		];
	try {
		for (const { file } of await auditFiles(folder)) {
			const at = path.join(folder, file);
			const its = await lstat(at).catch((error: NodeJS.ErrnoException) => {
				// The server has removed it since it was listed.
				if (error.code !== 'ENOENT') throw error;
			});
			if (its === undefined || its.isFile()) continue;
			const message = `${at} is no file, so what was recorded there is not shown`;
			return [fault(what, message, 'Remove it, or bring the file back.')];
		}
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		return [fault(what, `${folder} can't be read (${code})`, "give it to the server's user (chown -h).")];
	}
	return [ok(what, record === 'all' ? 'records what people change and look at' : 'records what people change')];
}

/** Checks the list of servers: without it they count quotas as if there were others, and commands that change roots can't ask them. */
async function checkProcesses(folder: string): Promise<Finding[]> {
	const what = 'servers';
	try {
		if (!(await stat(folder)).isDirectory())
			return [
				fault(what, `${folder}, the list of running servers, is no folder`, 'Remove it, and restart the server.'),
			];
		await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
		return [];
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === 'ENOENT') return [];
		const message = `${folder}, the list of running servers, can't be used (${code})`;
		return [fault(what, message, "give it to the server's user (chown -h), and restart the server.")];
	}
}

async function checkKey(file: string): Promise<Finding[]> {
	const found = await stat(file).catch((error: NodeJS.ErrnoException) => error);
	if (found instanceof Error) {
		const isLink = await lstat(file).then(
			(its) => its.isSymbolicLink(),
			() => false,
		);
		if (isLink && ['ENOENT', 'ELOOP', 'ENAMETOOLONG'].includes(found.code ?? ''))
			return [
				fault(
					'key',
					`${file} is a link that leads to no file`,
					'Bring that file back, or remove the link: the next start makes a new key (everybody signs in again).',
				),
			];
		if (found.code === 'ENOENT') return [warn('key', `${file} is not there yet`, 'The first start makes it.')];
		return [fault('key', `${file} can't be looked at (${found.code})`, `Give the server's user the right to it.`)];
	}
	if (!found.isFile())
		return [
			fault('key', `${file} is no file`, 'Remove it: the next start makes a new key (everybody signs in again).'),
		];
	if ((found.mode & 0o077) === 0) return [ok('key', 'for its owner only')];
	return [fault('key', `others may read ${file}`, chmodCommand('600', file))];
}

export function clockFinding(whose: string, time: number, maxErrorMs = maxClockErrorMs): Finding {
	const error = Math.round((time - Date.now()) / 1000);
	if (Math.abs(time - Date.now()) <= maxErrorMs) return ok('clock', `agrees with that of ${whose}`);
	return warn(
		'clock',
		`that of ${whose} differs by ${error} s`,
		'Let both machines get their time by NTP: timedatectl set-ntp true.',
	);
}
