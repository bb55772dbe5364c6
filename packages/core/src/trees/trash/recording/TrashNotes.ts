import { randomBytes } from 'node:crypto';
import {
	type StorageEntry,
	type StorageProvider,
	type TrashRecord,
	type TrashStore,
	trashFolder,
} from '@stowage/plugin-api';
import { batchesOf, isFailure, joinPath, parsePath, type StoragePath } from '@stowage/rules';
import { z } from 'zod';

const noteName = /^notes-[0-9a-f]{32}\.jsonl$/;

/** Files that there may be for no reason, and how many notes each of the others has at least. */
const maxFiles = 50;
const notesOfFile = 1_000;

/** Bytes of a file of notes: a larger one is another program's. Of long paths, which may have 64 kB each, it has no thousand. */
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
	const notes = records.map((record) => {
		const { id, ownerId, ownerName, path, type, deletedAt, deletedBy } = record;
		const version = record.kind === 'version' ? { of: record.versionOf, replacedId: record.replacedId } : undefined;
		return { id, ownerId, ownerName, path, type, deletedAt, deletedBy, version };
	});
	await writeFiles(storage, notes);
}

/** Writes a file of notes, or several where they are long. */
async function writeFiles(storage: StorageProvider, notes: readonly TrashNote[]): Promise<void> {
	let lines: string[] = [];
	let bytes = 0;
	for (const each of notes) {
		const line = `${JSON.stringify(each)}\n`;
		const length = Buffer.byteLength(line);
		if (bytes + length > maxNoteBytes && lines.length > 0) {
			await writeFile(storage, lines);
			lines = [];
			bytes = 0;
		}
		lines.push(line);
		bytes += length;
	}
	await writeFile(storage, lines);
}

async function writeFile(storage: StorageProvider, lines: readonly string[]): Promise<void> {
	const path = joinPath(trashFolder, `notes-${randomBytes(16).toString('hex')}.jsonl`);
	const staged = await storage.stage();
	try {
		await staged.append(oneChunk(Buffer.from(lines.join(''))), 0);
		await staged.commit(path);
	} finally {
		await staged.discard();
	}
}

/** The paths of a root's files of notes, the newest first, and the ids of the items in its trash. */
export async function trashContents(storage: StorageProvider): Promise<{ notes: StoragePath[]; ids: string[] }> {
	const files: StorageEntry[] = [];
	const ids: string[] = [];
	try {
		for await (const batch of storage.list(trashFolder)) {
			for (const row of batch) {
				const { name } = row;
				if (noteName.test(name)) files.push(row);
				else if (/^[0-9a-f]{32}$/.test(name)) ids.push(name);
			}
		}
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
	}
	files.sort((one, other) => other.mtime - one.mtime);
	return { notes: files.map(({ name }) => joinPath(trashFolder, name)), ids };
}

/** The notes of a file, the last one first; lines that are damaged are left out. */
export async function readNotes(storage: StorageProvider, path: StoragePath): Promise<TrashNote[]> {
	const file = await storage.open(path);
	try {
		const chunks: Uint8Array[] = [];
		if (file.item.size <= maxNoteBytes) for await (const chunk of file.read()) chunks.push(Uint8Array.from(chunk));
		const lines = Buffer.concat(chunks).toString('utf8').split('\n', maxLines);
		const notes = lines.flatMap((line) => {
			try {
				return [note.parse(JSON.parse(line))];
			} catch {
				return [];
			}
		});
		return notes.reverse();
	} finally {
		await file.close();
	}
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
	yield bytes;
}

/**
 * Replaces many small files of notes, and those of items that are gone, by a few: that of all rows of the root, and the latest of what is
 * in its trash without a row. The database may be an older one, and then these notes are all that is known of such items.
 */
export async function tidyNotes(store: TrashStore, storage: StorageProvider): Promise<void> {
	const { notes, ids } = await trashContents(storage);
	if (notes.length <= maxFiles + (2 * ids.length) / notesOfFile) return;
	const withoutNote = new Set(ids);
	for (let after: TrashRecord | undefined; ; ) {
		const { rootId } = storage;
		const records = await store.list({ order: 'oldest', limit: notesOfFile, rootId, after });
		if (records.length > 0) await writeNotes(storage, records);
		for (const { id } of records) withoutNote.delete(id);
		after = records.at(-1);
		if (records.length < notesOfFile) break;
	}
	await keepNotes(storage, notes, withoutNote);
	for (const path of notes) await storage.remove(path);
}

/** Writes the latest notes of these items once more. */
async function keepNotes(storage: StorageProvider, files: readonly StoragePath[], ids: Set<string>): Promise<void> {
	const kept: TrashNote[] = [];
	for (const path of files) {
		if (ids.size === 0) break;
		for (const each of await readNotes(storage, path)) if (ids.delete(each.id)) kept.push(each);
		while (kept.length >= notesOfFile) await writeFiles(storage, kept.splice(0, notesOfFile));
	}
	if (kept.length > 0) await writeFiles(storage, kept);
}

/** Writes notes of the items of a root that have rows and none: as of those that came with a home, and whose note could not be written. */
export async function noteMissing(store: TrashStore, storage: StorageProvider): Promise<void> {
	const { notes, ids } = await trashContents(storage);
	const missing = new Set(ids);
	for (const path of notes) for (const { id } of await readNotes(storage, path)) missing.delete(id);
	for (const part of batchesOf([...missing], notesOfFile)) {
		const records = await store.list({ order: 'oldest', limit: part.length, rootId: storage.rootId, ids: part });
		if (records.length > 0) await writeNotes(storage, records);
	}
}
