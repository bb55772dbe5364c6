import type { OpenFile } from '@stowage/plugin-api';
import { notSharedAnyMore } from './SharedFolders.js';

/** Wraps the file: it can't be read any more once the membership is lost. */
export function endingFile(file: OpenFile, hold: (onLost: () => void) => () => void): OpenFile {
	let isLost = false;
	const leave = hold(() => {
		isLost = true;
	});
	const { withLocalFile } = file;
	return {
		item: file.item,
		async *read(range) {
			for await (const chunk of file.read(range)) {
				if (isLost) throw notSharedAnyMore();
				yield chunk;
			}
		},
		...(withLocalFile === undefined ? {} : { withLocalFile: (use) => withLocalFile.call(file, use) as never }),
		isChanged: (options) => file.isChanged(options),
		close() {
			leave();
			return file.close();
		},
	};
}
