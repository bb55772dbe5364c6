import { plural } from './plural.js';
import { formatInUnits } from './units.js';

// The three readings of section 9. Single bytes are whole, so they never have decimals.

/** A size in the file list: `512 B`, `1.5 KB`, up to TB, base 1024. */
export function formatListSize(bytes: number): string {
	return bytes < 1024 ? `${bytes} B` : formatInUnits(bytes / 1024, 1024, ['KB', 'MB', 'GB', 'TB'], 1);
}

/** A size in the download dialog: `512 Bytes`, `1.50 KB`, up to GB, base 1024. */
export function formatDownloadSize(bytes: number): string {
	return bytes < 1024 ? plural(bytes, 'Byte') : formatInUnits(bytes / 1024, 1024, ['KB', 'MB', 'GB'], 2);
}

/** A size in the upload queue: `512 B`, `1.5 kB`, up to GB, base 1000 as SI has it. */
export function formatQueueSize(bytes: number): string {
	return bytes < 1000 ? `${bytes} B` : formatInUnits(bytes / 1000, 1000, ['kB', 'MB', 'GB'], 1);
}
