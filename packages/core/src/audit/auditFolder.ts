import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';

const dayMs = 24 * 60 * 60_000;

/** A file of the audit log: the lines of a day in UTC, or a part of them. */
export interface AuditFileName {
	day: string;
	part: number;
	file: string;
}

export function auditFolder(dataDir: string): string {
	return path.join(dataDir, 'audit');
}

export function auditFileName(day: string, part: number): string {
	return part === 0 ? `${day}.jsonl` : `${day}.${part}.jsonl`;
}

/** The files there are, the oldest first; none where there is no folder. */
export async function auditFiles(folder: string): Promise<AuditFileName[]> {
	const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
		throw error;
	});
	return names
		.flatMap((file) => {
			const [, day, part = '0'] = /^(\d{4}-\d\d-\d\d)(?:\.(\d{1,6}))?\.jsonl$/.exec(file) ?? [];
			return day === undefined ? [] : [{ day, part: Number(part), file }];
		})
		.sort((a, b) => (a.day === b.day ? a.part - b.part : a.day < b.day ? -1 : 1));
}

/** Removes files older than `keepFor`, and the oldest ones above `maxSize` in total; the newest file stays. */
export async function removeOldAudit(
	folder: string,
	now: number,
	{ keepFor, maxSize }: { keepFor: number; maxSize: number },
): Promise<void> {
	const files = await auditFiles(folder);
	let size = 0;
	for (const [index, { day, file }] of files.reverse().entries()) {
		const at = path.join(folder, file);
		// Another process may remove it at the same time.
		size += await stat(at).then(
			(found) => found.size,
			() => 0,
		);
		const isOver = Date.parse(day) + dayMs + keepFor <= now;
		if (isOver || (index > 0 && size > maxSize)) await rm(at, { force: true });
	}
}
