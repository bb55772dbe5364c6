import type { ServerResponse } from 'node:http';
import { isFailure } from '@stowage/rules';
import type { Config } from '../config/schema.js';
import { currentContext } from '../context.js';
import type { Log } from '../log.js';
import { AuditFile } from './AuditFile.js';
import { auditFolder, removeOldAudit } from './auditFolder.js';
import { type AuditEvent, type AuditOutcome, type AuditRecord, auditLine, originOf, readActions } from './auditLine.js';
import { Repeats } from './Repeats.js';

/** The audit log: who did what to which file, with which result. Nothing here throws or waits: it can't affect a request. */
export interface Audit {
	/** Records the outcome of `work`; `detailsOf` adds details from its result. Resolves or rejects as `work` does. */
	recorded<T>(
		event: AuditEvent,
		work: () => Promise<T>,
		detailsOf?: (result: T) => Partial<AuditEvent> | undefined,
	): Promise<T>;
	/** Records the bytes sent of a file or an archive, once `send` has ended: ranges of one item as one line per client and minute. `describe` adds details that are found meanwhile. */
	sending<T>(
		event: AuditEvent,
		response: ServerResponse,
		send: (describe: (details: Partial<AuditEvent>) => void) => Promise<T>,
	): Promise<T>;
	record(event: AuditEvent, outcome: AuditOutcome): void;
	/** Removes files that are older than the settings allow. */
	sweep(): Promise<void>;
	/** Writes all that waits. */
	close(): Promise<void>;
}

interface Dependencies {
	config: Pick<Config, 'audit' | 'dataDir'>;
	log: Log;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
	/** Bytes that the body of an answer has had so far. */
	bytesSent(response: ServerResponse): number;
	/** The user of the command line, for actions without a request or a job. */
	systemUser?: string | undefined;
}

export function createAudit({ config, log, now, monotonic, bytesSent, systemUser }: Dependencies): Audit {
	const folder = auditFolder(config.dataDir);
	const repeats = new Repeats(monotonic);
	const file = new AuditFile(folder, {
		onFault: (error) => log.error({ err: error }, 'the audit log could not be written: entries were lost'),
		onRecovered(lost) {
			log.warn({ lost }, 'the audit log is written again');
			file.append(auditLine(now(), { action: 'lost', entries: lost }, { outcome: 'failed' }, {}), now());
		},
	});

	const isRecorded = ({ action }: AuditEvent): boolean => {
		if (config.audit.record === 'off') return false;
		return config.audit.record === 'all' || !readActions.some((each) => each === action);
	};

	const write = (event: AuditEvent, outcome: AuditOutcome, origin: Partial<AuditRecord>) => {
		file.append(auditLine(now(), event, outcome, origin), now());
	};

	const originNow = (): Partial<AuditRecord> => {
		const context = currentContext();
		const isNobodys = context?.request === undefined && context?.job === undefined;
		return isNobodys && systemUser !== undefined ? { systemUser } : originOf(context);
	};

	/** Identifies the client of repeated events. */
	const keyOf = ({ action, viewer, ...event }: AuditEvent, { outcome, reason }: AuditOutcome): string => {
		const { request: _, ...origin } = originNow();
		const what = outcome === 'refused' ? [] : [event.area, event.owner, event.path, event.paths, event.link];
		return JSON.stringify([origin, viewer, action, outcome, reason, ...what]);
	};

	const record: Audit['record'] = (event, outcome) => {
		if (!isRecorded(event)) return;
		if (outcome.outcome !== 'refused') return write(event, outcome, originNow());
		const key = keyOf(event, outcome);
		if (repeats.has(key)) return repeats.add(key, event, () => {});
		// The first one is written at once; a flood is one more line a minute.
		const origin = originNow();
		write(event, outcome, origin);
		repeats.add(key, { ...event, requests: 0 }, (sum) => {
			if (sum.requests !== 0) write(sum, outcome, origin);
		});
	};

	const recordSent = (event: AuditEvent, response: ServerResponse) => {
		const { statusCode, req } = response;
		if (!isRecorded(event) || req.method !== 'GET' || (statusCode !== 200 && statusCode !== 206)) return;
		const bytes = response.hasHeader('x-accel-redirect') ? {} : { bytes: bytesSent(response) };
		const sent = { ...event, ...bytes };
		const origin = originNow();
		if (statusCode === 200) return write(sent, { outcome: response.writableEnded ? 'ok' : 'cancelled' }, origin);
		// Players request a part, abort it and request another.
		const outcome = { outcome: 'ok' } as const;
		repeats.add(keyOf(event, outcome), sent, (sum) => write(sum, outcome, origin));
	};

	return {
		record,

		async recorded(event, work, detailsOf) {
			try {
				const result = await work();
				record({ ...event, ...detailsOf?.(result) }, { outcome: 'ok' });
				return result;
			} catch (error) {
				record(event, outcomeOf(error));
				throw error;
			}
		},

		async sending(event, response, send) {
			let described = event;
			try {
				const sent = await send((details) => {
					described = { ...described, ...details };
				});
				recordSent(described, response);
				return sent;
			} catch (error) {
				record(described, outcomeOf(error));
				throw error;
			}
		},

		sweep: () => removeOldAudit(folder, now(), config.audit),

		async close() {
			repeats.endAll();
			await file.close();
		},
	};
}

/** The outcome that an error is recorded as. */
export function outcomeOf(error: unknown): AuditOutcome {
	if (isFailure(error)) return { outcome: error.status >= 500 ? 'failed' : 'refused', reason: error.kind };
	const isClientGone = error instanceof Error && ['AbortError', 'ClientGone'].includes(error.name);
	return isClientGone ? { outcome: 'cancelled' } : { outcome: 'failed', reason: 'fault' };
}
