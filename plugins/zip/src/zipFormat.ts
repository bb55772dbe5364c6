import type { ArchiveFormat, KeyValueStore } from '@stowage/plugin-api';
import { ChecksumCache } from './ChecksumCache.js';
import { Checksums } from './Checksums.js';
import { layOut } from './layout.js';
import { readZip } from './readZip.js';

/** ZIP as PKWARE's APPNOTE has it. Checksums that were computed once are kept in `store`, those of small files in memory. */
export function zipFormat(store: KeyValueStore): ArchiveFormat {
	const cache = new ChecksumCache();
	return {
		version: 'stowage-zip-2',
		// Its offset, its CRC and whether that is known.
		bytesPerEntry: 8 + 4 + 1,
		async archive(contents, signal) {
			const layout = await layOut(contents, signal);
			const checksums = new Checksums(contents, store, cache);
			const whole = { start: 0, end: layout.size - 1 };
			return {
				size: layout.size,
				read: (range = whole, readSignal = signal) => readZip(contents, layout, checksums, range, readSignal),
			};
		},
	};
}
