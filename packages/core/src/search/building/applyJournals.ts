import { rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { IndexWriter } from '@stowage/database';
import type { ProcessIdentity } from '../../leases/processIdentity.js';
import type { Journals } from '../Journals.js';

interface Dependencies {
	/** The folder of the index. */
	folder: string;
	identity: Pick<ProcessIdentity, 'hasEnded'>;
}

/** Marks in the index what all processes have noted since the last time, and removes journals whose processes have ended. */
export async function applyJournals(journals: Journals, writer: IndexWriter, parts: Dependencies): Promise<void> {
	await journals.read();
	const positions = await writer.positions();
	const pending = journals.pending(positions);
	for (const { file, position, marks, open, isClosed } of pending) {
		const location = path.join(parts.folder, 'changes', file);
		const hasEnded = isClosed || (await hasWriterEnded(location, parts.identity));
		const isRead = position > (positions.get(file) ?? 0);
		// What had not ended when its process did was no reason to apply anything before, also where all lines were read then.
		if (hasEnded && (isRead || open.length > 0)) await writer.apply(file, position, [...marks, ...open]);
		else if (isRead && marks.length > 0) await writer.apply(file, position, marks);
		if (!hasEnded) continue;
		await rm(location, { force: true });
		await writer.forgetJournal(file);
	}
	// A file that was removed with the index, or by another builder.
	const files = new Set(pending.map(({ file }) => file));
	for (const file of positions.keys()) if (!files.has(file)) await writer.forgetJournal(file);
	journals.forget(await writer.positions());
}

/** Whether the process that writes this journal has certainly ended. */
async function hasWriterEnded(journal: string, identity: Pick<ProcessIdentity, 'hasEnded'>): Promise<boolean> {
	const file = path.basename(journal);
	const process = file.slice(0, file.lastIndexOf('.')).replaceAll('_', ' ');
	if (await identity.hasEnded(process)) return true;
	try {
		const { mtimeMs } = await stat(journal);
		// Of a machine that was started since then no process is left. Another machine would have its own data folder.
		return mtimeMs < Date.now() - os.uptime() * 1000;
	} catch {
		return false;
	}
}
