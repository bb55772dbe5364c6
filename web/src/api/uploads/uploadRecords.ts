import { basePath } from '../client/basePath.js';
import type { Piece, SentPieces } from './sentPieces.js';
import type { Upload } from './upload.js';

/** An unfinished upload, with what the server has of it. */
export interface KnownUpload {
	id: string;
	/** What the server has confirmed; undefined where that is not known. */
	sent?: SentPieces | undefined;
	/** What was sent after it, and may have arrived without an answer. */
	pending?: Piece | undefined;
}

/** Unfinished uploads. They survive a closed tab. */
export interface UploadRecords {
	/** `isOfFile`: it was sent from this very file, by this page. The file of another page is only called the same. */
	find: (upload: Upload) => (KnownUpload & { isOfFile: boolean }) | undefined;
	save: (upload: Upload, known: KnownUpload) => void;
	remove: (upload: Upload) => void;
}

const prefix = 'stowage:upload:';
/** Longer than the server keeps an unfinished upload. */
const maxAgeMs = 14 * 24 * 3600_000;

interface StoredRecord extends KnownUpload {
	at: number;
}

/**
 * Records in `storage`. Without one (a browser may refuse it) no upload is resumed after its tab was closed. `scope`
 * distinguishes those of other receivers; the areas have none.
 */
export function createUploadRecords(
	storage: Storage | undefined,
	scope: (upload: Upload) => readonly string[] = () => [],
): UploadRecords {
	/** What this page has sent of each file. */
	const own = new WeakMap<File, { key: string; known: KnownUpload }>();
	const keyOf = (upload: Upload) => prefix + JSON.stringify([...scope(upload), ...partsOf(upload)]);
	return {
		find(upload) {
			const key = keyOf(upload);
			const sent = own.get(upload.file);
			if (sent?.key === key) return { ...sent.known, isOfFile: true };
			const stored = read(storage?.getItem(key) ?? null);
			return stored && { ...stored, isOfFile: false };
		},
		save(upload, known) {
			const key = keyOf(upload);
			own.set(upload.file, { key, known });
			if (!storage) return;
			if (read(storage.getItem(key))?.id !== known.id) removeExpired(storage);
			try {
				storage.setItem(key, JSON.stringify({ ...known, at: Date.now() } satisfies StoredRecord));
			} catch {
				// The storage is full. The upload continues, but can't be resumed after its tab was closed, or not as verified.
			}
		},
		remove(upload) {
			own.delete(upload.file);
			storage?.removeItem(keyOf(upload));
		},
	};
}

function removeExpired(storage: Storage): void {
	for (const key of Object.keys(storage)) {
		if (!key.startsWith(prefix)) continue;
		const record = read(storage.getItem(key));
		if (!record || Date.now() - record.at > maxAgeMs) storage.removeItem(key);
	}
}

/**
 * The user, the destination and the file. Differs for another account, another place, another choice where its name is
 * taken, and a changed file, as far as its size and its time tell.
 */
function partsOf({ file, fileName, directory, area, username, onConflict }: Upload) {
	const parts = [basePath, username ?? null, area, directory, fileName, file.size, file.lastModified];
	return onConflict === 'rename' ? parts : [...parts, onConflict];
}

function read(text: string | null): StoredRecord | undefined {
	if (text === null) return undefined;
	try {
		return toRecord(JSON.parse(text));
	} catch {
		// Written by something else: the upload begins anew.
		return undefined;
	}
}

function toRecord(value: unknown): StoredRecord | undefined {
	const { id, at, sent, pending } = (value ?? {}) as { [Name in keyof StoredRecord]?: unknown };
	if (typeof id !== 'string' || typeof at !== 'number') return undefined;
	// An older page has written none of these.
	if (!isSent(sent)) return { id, at };
	return { id, at, sent, ...(isPiece(pending) ? { pending } : {}) };
}

function isSent(value: unknown): value is SentPieces {
	const { sizes, digest } = (value ?? {}) as { [Name in keyof SentPieces]?: unknown };
	if (typeof digest !== 'string' || !Array.isArray(sizes)) return false;
	return sizes.every((each) => Array.isArray(each) && each.length === 2 && each.every(isSize));
}

function isPiece(value: unknown): value is Piece {
	const { size, digest } = (value ?? {}) as { [Name in keyof Piece]?: unknown };
	return isSize(size) && typeof digest === 'string';
}

function isSize(value: unknown): value is number {
	return Number.isSafeInteger(value) && Number(value) > 0;
}
