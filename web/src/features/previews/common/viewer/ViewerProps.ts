import type { Area, Entry, Viewer } from '@stowage/rules';
import type { PreviewFile } from '../bytes/previewFile.js';
import type { Picture } from '../images/picture.js';

/** The props of every viewer. */
export interface ViewerProps {
	viewer: Viewer;
	area: Area;
	file: PreviewFile;
	entry: Entry;
	/** What the bytes of the file say of it as a picture. */
	picture: Picture;
	/** The entries of the folder, in the order on screen. */
	entries: readonly Entry[];
	/** The neighbours of the same kind, to be shown one after another. */
	previous: Entry | undefined;
	next: Entry | undefined;
	onShow: (entry: Entry) => void;
}
