import { randomBytes } from 'node:crypto';
import { type StorageProvider, type TrashRecord, type TrashStore, trashFolder } from '@stowage/plugin-api';
import { isFailure, joinPath, parsePath, type StoragePath } from '@stowage/rules';
import { z } from 'zod';

const noteName = /^notes-[0-9a-f]{32}\.jsonl$/;

/** Files that there may be for no reason, and how many notes each of the others has at least. */
const maxFiles = 50;
const notesOfFile = 1_000;

/** More than a thousand long paths. */
const maxNoteBytes = 32 * 1024 * 1024;

/** Lines of a file that are read: it may be another program's. */
const maxLines = 100_000;

/** Milliseconds since the epoch, up to the year 9999: a time of which there is a date, also with what is added to it. */
export const deletionTime = z.number().int().min(0).max(Date.UTC(9999, 0));

/** A line of a file of notes. */
const note = z.object({
	id: z.string().regex(/^[0-9a-f]{32}$/),
	ownerId: z.string(),
	ownerName: z.string(),
	path: z.string().transform((text) => parsePath(text)),
	type: z.enum(['file', 'directory']),
	deletedAt: deletionTime,
	deletedBy: z.string(),
	/** Only for a version: the identity of its file, and the one that it had itself before it was replaced. */
	version: z.object({ of: z.string(), replacedId: z.string() }).optional(),
});

export type TrashNote = z.infer<typeof note>;

/** Writes what these items of one root are beside them, durably, for the case that the database is lost. */
export async function writeNotes(storage: StorageProvider, records: readonly TrashRecord[]): Promise<void> {
	const lines = records.map((record) => {
		const { id, ownerId, ownerName, path, type, deletedAt, deletedBy } = record;
		const version = record.kind === 'version' ? { of: record.versionOf, replacedId: record.replacedId } : undefined;
		return JSON.stringify({ id, ownerId, ownerName, path, type, deletedAt, deletedBy, version });
	});
	const path = joinPath(trashFolder, `notes-${randomBytes(16).toString('hex')}.jsonl`);
	const staged = await storage.stage();
	try {
		await staged.append(oneChunk(Buffer.from(`${lines.join('\n')}\n`)), 0);
		await staged.commit(path);
	} finally {
		await staged.discard();
	}
}

/** The paths of a root's files of notes, and the ids of the items in its trash. */
export async function trashContents(storage: StorageProvider): Promise<{ notes: StoragePath[]; ids: string[] }> {
	const notes: StoragePath[] = [];
	const ids: string[] = [];
	try {
		for await (const batch of storage.list(trashFolder)) {
			for (const { name } of batch) {
				if (noteName.test(name)) notes.push(joinPath(trashFolder, name));
				else if (/^[0-9a-f]{32}$/.test(name)) ids.push(name);
			}
		}
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
	}
	return { notes, ids };
}

/** The notes of a file; lines that are damaged are left out. */
export async function readNotes(storage: StorageProvider, path: StoragePath): Promise<TrashNote[]> {
	const file = await storage.open(path);
	try {
		const chunks: Uint8Array[] = [];
		if (file.item.size <= maxNoteBytes) for await (const chunk of file.read()) chunks.push(Uint8Array.from(chunk));
		const lines = Buffer.concat(chunks).toString('utf8').split('\n', maxLines);
		return lines.flatMap((line) => {
			try {
				return [note.parse(JSON.parse(line))];
			} catch {
				return [];
			}
		});
	} finally {
		await file.close();
	}
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
	yield bytes;
}

/** Replaces many small files of notes, and those of items that are gone, by a few that have all rows of the root. */
export async function tidyNotes(store: TrashStore, storage: StorageProvider): Promise<void> {
	const { notes, ids } = await trashContents(storage);
	if (notes.length <= maxFiles + (2 * ids.length) / notesOfFile) return;
	for (let after: TrashRecord | undefined; ; ) {
		const { rootId } = storage;
		const records = await store.list({ order: 'oldest', limit: notesOfFile, rootId, after });
		if (records.length > 0) await writeNotes(storage, records);
		after = records.at(-1);
		if (records.length < notesOfFile) break;
	}
	for (const path of notes) await storage.remove(path);
}
