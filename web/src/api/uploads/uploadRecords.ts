import { basePath } from '../client/basePath.js';
import type { Upload } from './uploads.js';

/** What was begun, remembered beyond a closed tab. */
export interface UploadRecords {
	find: (upload: Upload) => string | undefined;
	keep: (upload: Upload, id: string) => void;
	forget: (upload: Upload) => void;
}

const prefix = 'stowage:upload:';
/** The server drops what nobody goes on with much earlier. */
const keptMilliseconds = 14 * 24 * 3600_000;

interface StoredRecord {
	id: string;
	at: number;
}

/** In `storage`; where there is none (a browser may refuse it), a closed tab means to begin anew. */
export function storedRecords(storage: Storage | undefined): UploadRecords {
	return {
		find: (upload) => read(storage?.getItem(keyOf(upload)) ?? null)?.id,
		keep(upload, id) {
			if (!storage) return;
			for (const key of Object.keys(storage)) {
				if (!key.startsWith(prefix)) continue;
				const record = read(storage.getItem(key));
				if (!record || Date.now() - record.at > keptMilliseconds) storage.removeItem(key);
			}
			try {
				storage.setItem(keyOf(upload), JSON.stringify({ id, at: Date.now() } satisfies StoredRecord));
			} catch {
				// The storage is full. The upload itself goes on; only a closed tab would begin it anew.
			}
		},
		forget: (upload) => storage?.removeItem(keyOf(upload)),
	};
}

export function browserStorage(): Storage | undefined {
	try {
		return localStorage;
	} catch {
		// Blocked by the browser's settings.
		return undefined;
	}
}

/** Who, where to and which file: never the same for another account, place or state of the file. */
function keyOf({ file, fileName, directory, isPublic, username }: Upload): string {
	const area = isPublic ? 'public' : 'private';
	return prefix + JSON.stringify([basePath, username ?? null, area, directory, fileName, file.size, file.lastModified]);
}

function read(text: string | null): StoredRecord | undefined {
	if (text === null) return undefined;
	try {
		const record: unknown = JSON.parse(text);
		return isRecord(record) ? record : undefined;
	} catch {
		return undefined;
	}
}

function isRecord(value: unknown): value is StoredRecord {
	const { id, at } = (value ?? {}) as Partial<StoredRecord>;
	return typeof id === 'string' && typeof at === 'number';
}
