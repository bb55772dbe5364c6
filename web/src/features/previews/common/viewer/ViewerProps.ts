import type { Area, Entry, Viewer } from '@stowage/rules';
import type { PreviewFile } from '../bytes/previewFile.js';

/** The props of every viewer. */
export interface ViewerProps {
	viewer: Viewer;
	area: Area;
	file: PreviewFile;
	entry: Entry;
	/** The first bytes of the file: `sniffedBytes`, of a picture as many as name its size. */
	firstBytes: Uint8Array;
	/** The entries of the folder, in the order on screen. */
	entries: readonly Entry[];
	/** The neighbours of the same kind, to be shown one after another. */
	previous: Entry | undefined;
	next: Entry | undefined;
	onShow: (entry: Entry) => void;
}
