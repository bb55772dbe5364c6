import { stat } from 'node:fs/promises';
import type { Config } from '../config/schema.js';
import type { Log } from '../log.js';
import type { AuditEvent } from './auditLine.js';
import { type Administrator, createAudit } from './createAudit.js';

/**
 * Records what the administrator has done with a command for which the server is not put together, such as a restore; nothing where there
 * is no data folder. What the log lacks then is said in `log`.
 */
export async function recordOrder(
	config: Pick<Config, 'audit' | 'dataDir' | 'databaseUrl' | 'node' | 'workers'>,
	log: Log,
	administrator: Administrator,
	event: AuditEvent,
): Promise<void> {
	const folder = await stat(config.dataDir).catch(() => undefined);
	if (folder === undefined) return;
	const clocks = { now: Date.now, monotonic: () => performance.now() };
	const audit = createAudit({ config, log, ...clocks, bytesSent: () => 0, administrator });
	audit.record(event, { outcome: 'ok' });
	await audit.close();
}
