import type { StorageEntry } from '@stowage/plugin-api';

/** A digest of a folder's rows, independent of their order: it differs when something has changed. */
export async function fingerprintOf(batches: AsyncIterable<StorageEntry[]>): Promise<string> {
	let rows = 0;
	let low = 0;
	let high = 0;
	for await (const batch of batches) {
		for (const { name, type, size, mtime, unreadable = false } of batch) {
			const row = `${type}/${size}/${mtime}/${unreadable}/${name}`;
			rows++;
			low = (low + hash(row, 0x811c9dc5)) | 0;
			high = (high + hash(row, 0x2545f491)) | 0;
		}
	}
	return `${rows}/${low}/${high}`;
}

/** FNV-1a, with a mix at the end so that sums of similar rows differ. */
function hash(text: string, seed: number): number {
	let value = seed;
	for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
	value ^= value >>> 15;
	value = Math.imul(value, 0x2c1b3c6d);
	return value ^ (value >>> 13);
}
