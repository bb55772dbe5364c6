import { stat } from 'node:fs/promises';
import type { Config } from '../config/schema.js';
import { createLog } from '../log.js';
import type { AuditEvent } from './auditLine.js';
import { type Administrator, createAudit } from './createAudit.js';

/**
 * Records what the administrator has done with a command for which the server is not put together, such as a restore; nothing where there
 * is no data folder.
 */
export async function recordOrder(
	config: Pick<Config, 'audit' | 'dataDir' | 'databaseUrl' | 'log' | 'node' | 'workers'>,
	administrator: Administrator,
	event: AuditEvent,
): Promise<void> {
	const folder = await stat(config.dataDir).catch(() => undefined);
	if (folder === undefined) return;
	const clocks = { now: Date.now, monotonic: () => performance.now() };
	const audit = createAudit({ config, log: createLog(config.log.level), ...clocks, bytesSent: () => 0, administrator });
	audit.record(event, { outcome: 'ok' });
	await audit.close();
}
