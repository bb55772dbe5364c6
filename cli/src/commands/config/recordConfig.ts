import { access, constants } from 'node:fs/promises';
import { type Config, type Log, recordCommand } from '@stowage/core';
import { administrator } from '../../commandLine/administrator.js';
import { dropRootPrivileges } from '../../commandLine/loadConfigAsOwner.js';
import { reasonOf } from '../../doctor/findings.js';
import { statIfThere } from '../../doctor/statIfThere.js';
import { printError } from '../../terminal/output.js';

/** Settings whose values are recorded, since they decide who may come. Of others, which may be secret, only the names are. */
const shown: readonly string[] = ['publicUrl', 'visitors', 'registration'];

/** Records which settings were written, if there is a data folder already, as its owner: root can't do anything else afterwards. */
export async function recordConfig(config: Config, names: readonly string[], log: Log): Promise<void> {
	const { dataDir } = config;
	const values = config as unknown as Readonly<Record<string, unknown>>;
	const detail = names.map((name) => (shown.includes(name) ? `${name}: ${values[name]}` : name)).join(', ');
	try {
		if (!(await statIfThere(dataDir))?.isDirectory()) return;
		await dropRootPrivileges(config);
		await access(dataDir, constants.W_OK);
		await recordCommand(config, log, administrator(), { action: 'configure', detail });
	} catch (error) {
		// The file is written, and holds.
		printError(`The audit log has no line of this: ${reasonOf(error)}`);
	}
}
