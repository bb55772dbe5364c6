import { createHash } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { type AuditClass, auditClasses, auditShares } from './auditClasses.js';

const dayMs = 24 * 60 * 60_000;

/** A file of the audit log: the lines of one class and day in UTC, or a part of them; of one node where there may be several. */
export interface AuditFileName {
	day: string;
	class: AuditClass;
	part: number;
	/** The node that writes it, as it is in the name of the file. */
	node: string | undefined;
	file: string;
}

export function auditFolder(dataDir: string): string {
	return path.join(dataDir, 'audit');
}

/** Files of changes have no class in their names: once all lines were in them. */
export function auditFileName(day: string, of: AuditClass, part: number, node?: string): string {
	const name = [day, ...(of === 'changes' ? [] : [of]), ...(part === 0 ? [] : [part])].join('.');
	return `${name}${node === undefined ? '' : `@${node}`}.jsonl`;
}

/** A name of a node as it is in the names of files: another one for another node. */
export function nodeInFileNames(node: string): string {
	if (/^[A-Za-z0-9_-]{1,40}$/.test(node)) return node;
	const plain = node.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 40);
	return `${plain}~${createHash('sha256').update(node).digest('hex').slice(0, 8)}`;
}

const fileNames = /^(\d{4}-\d\d-\d\d)(?:\.([a-z]+))?(?:\.(\d{1,6}))?(?:@([A-Za-z0-9_~-]{1,49}))?\.jsonl$/;

/** The files there are, the oldest first; none where there is no folder. */
export async function auditFiles(folder: string): Promise<AuditFileName[]> {
	const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
		throw error;
	});
	return names
		.flatMap((file) => {
			const [, day, name = 'changes', part = '0', node] = fileNames.exec(file) ?? [];
			const of = auditClasses.find((each) => each === name);
			return day === undefined || of === undefined ? [] : [{ day, class: of, part: Number(part), node, file }];
		})
		.sort((a, b) => (a.day === b.day ? a.part - b.part : a.day < b.day ? -1 : 1));
}

/**
 * Removes files older than `keepFor`. Where there is more than `maxSize` in total, the oldest of those classes go that have more than
 * their shares; the newest file of each class stays.
 */
export async function removeOldAudit(
	folder: string,
	now: number,
	{ keepFor, maxSize }: { keepFor: number; maxSize: number },
): Promise<void> {
	const left: (AuditFileName & { size: number })[] = [];
	for (const file of await auditFiles(folder)) {
		const at = path.join(folder, file.file);
		if (Date.parse(file.day) + dayMs + keepFor <= now) await rm(at, { force: true });
		else left.push({ ...file, size: await sizeOf(at) });
	}
	const kept: Record<AuditClass, Kept> = { security: none(), attempts: none(), changes: none(), visits: none() };
	let bytes = 0;
	const count = (file: (typeof left)[number], sign: 1 | -1) => {
		kept[file.class].files += sign;
		kept[file.class].bytes += sign * file.size;
		bytes += sign * file.size;
	};
	for (const file of left) count(file, 1);
	// A class that has no more than its share has no more later, either.
	for (const file of left) {
		if (bytes <= maxSize) return;
		const ofClass = kept[file.class];
		if (ofClass.files === 1 || ofClass.bytes <= maxSize * auditShares[file.class]) continue;
		count(file, -1);
		await rm(path.join(folder, file.file), { force: true });
	}
}

interface Kept {
	files: number;
	bytes: number;
}

const none = (): Kept => ({ files: 0, bytes: 0 });

/**
 * How much was written of a class each day, by whatever node and process, the oldest day first; of days only that end after `since`.
 * A day's lines count from its end on.
 */
export async function writtenBefore(folder: string, of: AuditClass, now: number, since = 0): Promise<Written[]> {
	const isOf = (file: AuditFileName) => file.class === of && Date.parse(file.day) + dayMs > since;
	const files = (await auditFiles(folder)).filter(isOf);
	return Promise.all(
		files.map(async ({ day, file }) => ({
			at: Math.min(Date.parse(day) + dayMs, now),
			file,
			bytes: await sizeOf(path.join(folder, file)),
		})),
	);
}

/** What a file of the log has. `at` is a time of day. */
export interface Written {
	at: number;
	file: string;
	bytes: number;
}

/** Another process may remove it at the same time. */
async function sizeOf(file: string): Promise<number> {
	return stat(file).then(
		({ size }) => size,
		(error: NodeJS.ErrnoException) => {
			if (error.code === 'ENOENT') return 0;
			throw error;
		},
	);
}
