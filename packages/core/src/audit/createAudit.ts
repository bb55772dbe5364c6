import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { isFailure } from '@stowage/rules';
import { nodeAmongOthers } from '../config/nodeOf.js';
import type { Config } from '../config/schema.js';
import { currentContext } from '../context.js';
import type { Log } from '../log.js';
import { Aggregator } from './Aggregator.js';
import { AuditFile } from './AuditFile.js';
import { type Aggregate, bounded, merged } from './aggregate.js';
import { auditClasses } from './auditClasses.js';
import { auditFolder, removeOldAudit } from './auditFolder.js';
import {
	type AuditEntry,
	type AuditEvent,
	type AuditOutcome,
	auditEntry,
	auditLine,
	originOf,
	readActions,
} from './auditLine.js';
import { createLineThrottle } from './createLineThrottle.js';
import { WrittenByAll } from './WrittenByAll.js';

/** The audit log: who did what to which file, with which result. Nothing here throws or waits: it can't affect a request. */
export interface Audit {
	/**
	 * Records the outcome of `work`; `detailsOf` adds details from its result, and returns undefined for one that has changed nothing,
	 * which is not recorded. Resolves or rejects as `work` does.
	 */
	recorded<T>(
		event: AuditEvent,
		work: () => Promise<T>,
		detailsOf?: (result: T) => Partial<AuditEvent> | undefined,
	): Promise<T>;
	/**
	 * Records the bytes sent of a file or an archive, once `send` has ended: ranges of one item as one line per client and minute.
	 * `describe` adds details that are found meanwhile.
	 */
	sending<T>(
		event: AuditEvent,
		response: ServerResponse,
		send: (describe: (details: Partial<AuditEvent>) => void) => Promise<T>,
	): Promise<T>;
	record(event: AuditEvent, outcome: AuditOutcome): void;
	/** Writes the aggregates that wait, and removes files that are more, and with `byAge` older, than the settings allow. */
	sweep(options: { byAge: boolean }): Promise<void>;
	/** Writes all that waits. */
	close(): Promise<void>;
}

/** Who runs a command: the system's name for whom, and the number of the user that it runs as. */
export interface Administrator {
	systemUser: string;
	uid?: number;
}

interface Dependencies {
	config: Pick<Config, 'audit' | 'dataDir' | 'node' | 'databaseUrl' | 'workers'>;
	log: Log;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
	/** Bytes that the body of an answer has had so far. */
	bytesSent(response: ServerResponse): number;
	/** Whose command this process runs, for actions without a request or a job. */
	administrator?: Administrator | undefined;
}

/** How many equal events of one client within a minute have a line each; those after them have one together. */
const refusalLines = 1;
const otherLines = 5;

export function createAudit({ config, log, now, monotonic, bytesSent, administrator }: Dependencies): Audit {
	const folder = auditFolder(config.dataDir);
	const node = nodeAmongOthers(config);
	const lineOf = (entry: AuditEntry) => auditLine(now(), node === undefined ? entry : { ...entry, node });
	const onError = (error: unknown) =>
		log.error({ err: error }, 'the audit log could not be written: entries were lost');
	const appendLost = (lost: number) => {
		const entry = auditEntry({ action: 'lost', entries: lost }, { outcome: 'failed' }, {});
		files.get('security')?.append(lineOf(entry), now(), lost);
	};
	const onRecovered = (lost: number) => {
		log.warn({ lost }, 'the audit log is written again');
		appendLost(lost);
	};
	/** Writes how many lines were lost, also of a class whose next line may never come. Who runs a command has read it already. */
	const sayWhatIsLost = async () => {
		await flush();
		const lost = [...files.values()].reduce((sum, file) => sum + file.takeLost(), 0);
		if (lost > 0 && administrator === undefined) {
			log.warn({ lost }, 'lines of the audit log were lost');
			appendLost(lost);
		}
		// A file that can be written again has a line in another one.
		await flush();
	};
	const files = new Map(
		auditClasses.map((each) => [each, new AuditFile(folder, each, { node, onError, onRecovered })]),
	);
	const flush = async () => {
		for (const file of files.values()) await file.flush();
	};
	const writtenByAll = new WrittenByAll({ config, folder, now, monotonic, flush });
	const throttle = createLineThrottle({
		...{ config, monotonic },
		write: (auditClass, entry) => {
			const line = lineOf(entry);
			writtenByAll.addOwn(auditClass, Buffer.byteLength(line));
			files.get(auditClass)?.append(line, now());
		},
		bytesOf: (entry) => Buffer.byteLength(lineOf(entry)),
	});

	const resumed = writtenByAll.begin(throttle).catch((error: NodeJS.ErrnoException) => {
		// A folder that can't be read can't be written either, which is reported then.
		if (!['EACCES', 'EPERM'].includes(error.code ?? ''))
			log.error({ err: error }, 'the size of the audit log is not known: its budgets begin anew');
	});

	/** Equal events within a minute. `waiting` has those that are no lines yet. */
	const repeats = new Aggregator<{ seen: number; waiting: Aggregate | undefined }>({
		monotonic,
		spanMs: 60_000,
		merge: (a, b) => ({
			seen: a.seen + b.seen,
			waiting: a.waiting && b.waiting ? merged(a.waiting, b.waiting) : (a.waiting ?? b.waiting),
		}),
		write: ({ waiting }) => waiting && throttle.write(waiting),
	});

	const isRecorded = ({ action }: AuditEvent): boolean => {
		if (config.audit.record === 'off') return false;
		return config.audit.record === 'all' || !readActions.some((each) => each === action);
	};

	const originNow = (): Partial<AuditEntry> => {
		const context = currentContext();
		if (context?.request !== undefined || context?.job !== undefined) return originOf(context);
		return administrator === undefined ? {} : { actor: 'administrator', ...administrator };
	};

	const count = (event: AuditEvent, outcome: AuditOutcome, maxLines: number) => {
		writtenByAll.lookAfterAWhile(throttle);
		const entry = auditEntry(event, outcome, originNow());
		const aggregate = { entry, count: 1, first: now(), last: now(), ...separateSource(event) };
		const { request: _, bytes: __, entries: ___, ...same } = entry;
		// Of some bytes, where a client has named items by long paths.
		const key = createHash('sha256').update(JSON.stringify(same)).digest('base64');
		const isLine = (repeats.get(key)?.seen ?? 0) < maxLines;
		if (isLine) throttle.write(aggregate);
		repeats.add(key, { seen: 1, waiting: isLine ? undefined : bounded(aggregate) });
	};

	const record: Audit['record'] = (event, outcome) => {
		if (isRecorded(event)) count(event, outcome, outcome.outcome === 'refused' ? refusalLines : otherLines);
	};

	const recordSent = (event: AuditEvent, response: ServerResponse) => {
		const { statusCode, req } = response;
		// An answer to HEAD has no bytes. A ZIP may be asked for by POST.
		if (!isRecorded(event) || req.method === 'HEAD' || (statusCode !== 200 && statusCode !== 206)) return;
		const bytes = response.hasHeader('x-accel-redirect') ? {} : { bytes: bytesSent(response) };
		const sent = { ...event, ...bytes };
		if (statusCode === 200) record(sent, { outcome: response.writableEnded ? 'ok' : 'cancelled' });
		// Players request a part, abort it and request another.
		else count(sent, { outcome: 'ok' }, 0);
	};

	return {
		record,

		async recorded(event, work, detailsOf) {
			try {
				const result = await work();
				const details = detailsOf === undefined ? {} : detailsOf(result);
				if (details !== undefined) record({ ...event, ...details }, { outcome: 'ok' });
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

		async sweep({ byAge }) {
			await resumed;
			await writtenByAll.idle();
			repeats.endAll();
			throttle.writeAggregates();
			await sayWhatIsLost();
			const { keepFor, maxSize } = config.audit;
			await removeOldAudit(folder, now(), { keepFor: byAge ? keepFor : Number.POSITIVE_INFINITY, maxSize });
		},

		async close() {
			await resumed;
			await writtenByAll.idle();
			repeats.endAll();
			throttle.endAll();
			await sayWhatIsLost();
			for (const file of files.values()) await file.close();
		},
	};
}

/**
 * What has happened to an account without its order counts for that account, apart from what it does: somebody who floods the log, or has
 * it happen to themselves again and again, takes from nobody the lines of what others have lost.
 */
function separateSource({ isConsequence, accountId, account, owner }: AuditEvent): Pick<Aggregate, 'source'> {
	const whose = accountId ?? account ?? owner;
	return isConsequence && whose !== undefined ? { source: `what is lost by ${whose}` } : {};
}

/** The outcome that an error is recorded as. */
export function outcomeOf(error: unknown): AuditOutcome {
	if (isFailure(error)) return { outcome: error.status >= 500 ? 'failed' : 'refused', reason: error.kind };
	const isClientGone = error instanceof Error && ['AbortError', 'ClientGone'].includes(error.name);
	return isClientGone ? { outcome: 'cancelled' } : { outcome: 'failed', reason: 'fault' };
}
