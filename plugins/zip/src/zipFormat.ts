import type { ArchiveFormat, SmallStore } from '@stowage/plugin-api';
import { Checksums } from './Checksums.js';
import { layOut } from './layout.js';
import { readZip } from './readZip.js';

/** ZIP as PKWARE's APPNOTE has it. Checksums that were computed once are kept in `store`. */
export function zipFormat(store: SmallStore): ArchiveFormat {
	return {
		version: 'stowage-zip-1',
		archive(contents) {
			const layout = layOut(contents);
			const checksums = new Checksums(contents, store);
			const whole = { start: 0, end: layout.size - 1 };
			return {
				size: layout.size,
				read: (range = whole, signal) => readZip(contents, layout, checksums, range, signal),
			};
		},
	};
}
