import { constants } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { NoRegularFileError, openRegularFile } from '@stowage/plugin-api';
import {
	addTo,
	anonymousOwner,
	Failure,
	foldUsername,
	formatListSize,
	isWithin,
	type StoragePath,
} from '@stowage/rules';
import { type AuditFileName, auditFiles, auditFolder } from './auditFolder.js';
import { type AuditRecord, dayOf, maxLineBytes, parseAuditLine } from './auditLine.js';
import { mergeByTime } from './mergeByTime.js';

export interface AuditQuery {
	/** A user's name, in whichever case, or id; `anonymous` is visitors. */
	user?: string | undefined;
	actions?: readonly string[] | undefined;
	/** Lines about this path, or any below it. */
	path?: string | undefined;
	/** Milliseconds since the epoch: from, and before. */
	since?: number | undefined;
	until?: number | undefined;
}

interface ReadAuditOptions {
	signal?: AbortSignal;
	onCaughtUp?: () => void;
	onUnusable?: (error: NoRegularFileError) => void;
}

/**
 * The matching lines of the audit log, in the order of time. It may be written meanwhile, and needs memory for a few lines however large
 * it is; torn lines and those of other programs are skipped. With `signal` it continues with new lines until the signal fires;
 * `onCaughtUp` is called each time all that there was has been given, and `onUnusable` once for each path at which something else lies in
 * place of a file. Throws `forbidden` where this user may not read it, and `invalid` at a file that has far more in one line than Stowage
 * writes.
 */
export async function* readAudit(
	dataDir: string,
	query: AuditQuery,
	{ signal, onCaughtUp, onUnusable }: ReadAuditOptions = {},
): AsyncGenerator<AuditRecord> {
	const folder = auditFolder(dataDir);
	/** The read offset of each file, up to a complete line. */
	const offsets = new Map<string, number>();
	const skipped = { bytes: 0 };
	const unusable = new Set<string>();
	const onNoFile = (error: NoRegularFileError) => {
		if (!unusable.has(error.path)) onUnusable?.(error);
		unusable.add(error.path);
	};
	do {
		for (const files of byDay(await unlessDenied(folder, auditFiles(folder)))) {
			if (!mayContain(files[0] as AuditFileName, query)) continue;
			const chunkBytes = chunkBytesFor(files.length);
			const sources = files.map(({ file }) =>
				recordsOf(path.join(folder, file), { offsets, chunkBytes, skipped, onNoFile }),
			);
			for await (const record of mergeByTime(sources)) if (matches(record, query)) yield record;
		}
		onCaughtUp?.();
		// It rejects when the signal fires, which the loop checks.
		if (signal !== undefined) await wait(pollMs, undefined, { signal }).catch(() => undefined);
	} while (signal !== undefined && !signal.aborted);
}

const pollMs = 300;

function byDay(files: readonly AuditFileName[]): AuditFileName[][] {
	const days = new Map<string, AuditFileName[]>();
	for (const file of files) addTo(days, file.day, file);
	return [...days.values()];
}

/** How late a line may be at most: longer than any aggregate waits for more events before it is written. */
const maxDelayMs = 60 * 60_000;

function mayContain({ day }: AuditFileName, { since, until }: AuditQuery): boolean {
	return !(since !== undefined && day < dayOf(since)) && !(until !== undefined && day > dayOf(until + maxDelayMs));
}

function matches(record: AuditRecord, { user, actions, path: at, since, until }: AuditQuery): boolean {
	// A sum counts for all of its time.
	const [first, last] = [record.first ?? record.time, record.last ?? record.time].map(Date.parse) as [number, number];
	if ((since !== undefined && last < since) || (until !== undefined && first >= until)) return false;
	if (actions !== undefined && !actions.includes(record.action)) return false;
	if (user !== undefined && !isAbout(record, user)) return false;
	if (at === undefined) return true;
	const paths = [record.path, record.to, ...(record.paths ?? [])].filter((each) => each !== undefined);
	if (paths.some((each) => isWithin(each as StoragePath, at as StoragePath))) return true;
	// Of several paths a sum names the folder only that they have in common.
	return (
		record.requests !== undefined &&
		record.path !== undefined &&
		isWithin(at as StoragePath, record.path as StoragePath)
	);
}

function isAbout({ user, userId, account, accountId, actor, systemUser }: AuditRecord, searched: string): boolean {
	if ([userId, accountId, actor, systemUser].includes(searched)) return true;
	const names = [user === null ? anonymousOwner : user, account];
	return names.some((name) => name !== undefined && foldUsername(name) === foldUsername(searched));
}

/** Longer than any line that the server writes; longer lines are skipped: a disk that lost its power may leave a file of zeros. */
const maxReadBytes = 2 * maxLineBytes;

/**
 * What is skipped in all, in lines that are too long: more than a power cut leaves. Whoever may write to the folder
 * makes files of any size that take no room on the disk.
 */
const maxSkippedBytes = 64 * 1024 * 1024;

/** How much of each file is in memory at once, of which there may be ten thousand for a day. */
function chunkBytesFor(files: number): number {
	return Math.max(4096, Math.min(1024 * 1024, Math.floor((32 * 1024 * 1024) / files)));
}

interface Reading {
	offsets: Map<string, number>;
	chunkBytes: number;
	/** Counted over all files. */
	skipped: { bytes: number };
	onNoFile: (error: NoRegularFileError) => void;
}

/** The complete lines after the end of the last reading. The file is open only while a chunk of it is read. */
async function* recordsOf(
	file: string,
	{ offsets, chunkBytes, skipped, onNoFile }: Reading,
): AsyncGenerator<AuditRecord> {
	let offset = offsets.get(file) ?? 0;
	if (offset > 0 && (await sizeOf(file)) <= offset) return;
	let readTo = offset;
	let rest: Buffer = Buffer.alloc(0);
	try {
		for (;;) {
			const chunk = await readChunk(file, readTo, chunkBytes);
			if (chunk.length === 0) return;
			readTo += chunk.length;
			const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
			let begin = 0;
			for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, begin)) {
				const line = bytes.subarray(begin, end);
				offset += line.length + 1;
				begin = end + 1;
				offsets.set(file, offset);
				const record = line.length > maxReadBytes ? undefined : parseAuditLine(line.toString());
				if (record !== undefined) yield record;
			}
			rest = bytes.subarray(begin);
			if (rest.length > maxReadBytes) {
				// A line that began in it is found by its beginning once it ends.
				const bytesSkipped = rest.length - maxReadBytes;
				offset += bytesSkipped;
				offsets.set(file, offset);
				rest = rest.subarray(bytesSkipped);
				skipped.bytes += bytesSkipped;
				if (skipped.bytes > maxSkippedBytes) throw notOurs(file);
			}
		}
	} catch (error) {
		// Removed since it was listed.
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
		if (error instanceof NoRegularFileError) return onNoFile(error);
		await unlessDenied(file, Promise.reject(error));
	}
}

function notOurs(file: string): Failure {
	return new Failure(
		'invalid',
		`The audit log has more than ${formatListSize(maxSkippedBytes)} in lines longer than any of Stowage’s, the last of them in ${file}. Move that file out of the folder, and run the command again.`,
	);
}

async function readChunk(file: string, from: number, chunkBytes: number): Promise<Buffer> {
	const handle = await openRegularFile(file, constants.O_RDONLY);
	try {
		const length = Math.max(0, Math.min(chunkBytes, (await handle.stat()).size - from));
		const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, from);
		return buffer.subarray(0, bytesRead);
	} finally {
		await handle.close();
	}
}

async function sizeOf(file: string): Promise<number> {
	try {
		return (await stat(file)).size;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
		throw error;
	}
}

async function unlessDenied<T>(what: string, reading: Promise<T>): Promise<T> {
	try {
		return await reading;
	} catch (cause) {
		const { code } = cause as NodeJS.ErrnoException;
		if (code !== 'EACCES' && code !== 'EPERM') throw cause;
		throw new Failure(
			'forbidden',
			`This user may not read ${what}: run the command as the server's user, or as root.`,
			{
				cause,
			},
		);
	}
}
