import { basePath } from '../client/basePath.js';
import type { Upload } from './upload.js';

/** The ids of unfinished uploads. They survive a closed tab. */
export interface UploadRecords {
	find: (upload: Upload) => string | undefined;
	save: (upload: Upload, id: string) => void;
	remove: (upload: Upload) => void;
}

const prefix = 'stowage:upload:';
/** Longer than the server keeps an unfinished upload. */
const maxAgeMs = 14 * 24 * 3600_000;

interface StoredRecord {
	id: string;
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
	const keyOf = (upload: Upload) => prefix + JSON.stringify([...scope(upload), ...partsOf(upload)]);
	return {
		find: (upload) => read(storage?.getItem(keyOf(upload)) ?? null)?.id,
		save(upload, id) {
			if (!storage) return;
			for (const key of Object.keys(storage)) {
				if (!key.startsWith(prefix)) continue;
				const record = read(storage.getItem(key));
				if (!record || Date.now() - record.at > maxAgeMs) storage.removeItem(key);
			}
			try {
				storage.setItem(keyOf(upload), JSON.stringify({ id, at: Date.now() } satisfies StoredRecord));
			} catch {
				// The storage is full. The upload continues, but can't be resumed after its tab was closed.
			}
		},
		remove: (upload) => storage?.removeItem(keyOf(upload)),
	};
}

/**
 * The user, the destination and the file. Differs for another account, another place, another choice where its name is
 * taken, and a changed file.
 */
function partsOf({ file, fileName, directory, area, username, onConflict }: Upload) {
	const parts = [basePath, username ?? null, area, directory, fileName, file.size, file.lastModified];
	return onConflict === 'rename' ? parts : [...parts, onConflict];
}

function read(text: string | null): StoredRecord | undefined {
	if (text === null) return undefined;
	try {
		const record: unknown = JSON.parse(text);
		return isRecord(record) ? record : undefined;
	} catch {
		// Written by something else: the upload begins anew.
		return undefined;
	}
}

function isRecord(value: unknown): value is StoredRecord {
	const { id, at } = (value ?? {}) as Partial<StoredRecord>;
	return typeof id === 'string' && typeof at === 'number';
}
