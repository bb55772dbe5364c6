import { stat } from 'node:fs/promises';
import type { Config } from '../config/schema.js';
import type { Log } from '../log.js';
import type { AuditEvent } from './auditLine.js';
import { type Administrator, createAudit } from './createAudit.js';

/**
 * Records a command of the administrator for which no services are opened, such as a restore. Without a data folder
 * there is no audit log, and nothing is recorded. A line that can't be written is reported to `log`.
 */
export async function recordCommand(
	config: Pick<Config, 'audit' | 'dataDir' | 'databaseUrl' | 'node' | 'workers'>,
	log: Log,
	administrator: Administrator,
	event: AuditEvent,
): Promise<void> {
	// One that exists and can't be examined was reported by the command itself, which worked in it.
	const folder = await stat(config.dataDir).catch(() => undefined);
	if (folder === undefined) return;
	const clocks = { now: Date.now, monotonic: () => performance.now() };
	const audit = createAudit({ config, log, ...clocks, bytesSent: () => 0, administrator });
	audit.record(event, { outcome: 'ok' });
	await audit.close();
}
