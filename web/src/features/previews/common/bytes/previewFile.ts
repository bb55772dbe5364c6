import { contentType, type Entry, extensionOf, needsRendition } from '@stowage/rules';
import type { FileSource } from '../../../../api/sources/FileSource.js';
import { undrawnType } from '../images/imageFormat.js';
import type { Picture } from '../images/picture.js';
import { maxPixels } from '../images/pixels.js';

/** A file that is shown. */
export interface PreviewFile {
	/** Distinguishes it from every other file, also from later versions of itself. */
	id: string;
	name: string;
	size: number;
	/** The address of its bytes, also for ranges. */
	url: string;
	/** Where it is downloaded. */
	downloadUrl: string;
	/** Where the browser itself shows it. */
	tabUrl: string;
	/** The server's rendition, which any browser draws; 415 if there is none. */
	renditionUrl: string;
}

export function previewFile(source: FileSource, entry: Entry): PreviewFile {
	const { name, size, mtime } = entry;
	const url = source.viewUrl(entry);
	return {
		...{ id: `${url} ${size} ${mtime}`, name, size, url },
		...{ downloadUrl: source.downloadUrl(entry), tabUrl: source.tabUrl(entry) },
		renditionUrl: source.thumbnailUrl(entry, 2048),
	};
}

type Drawn = Pick<PreviewFile, 'name' | 'url' | 'renditionUrl'>;

export type ImageSource =
	| { kind: 'address'; url: string }
	/** The file's bytes under a type set by the page, since the server's answer has none that a browser draws. */
	| { kind: 'blob'; url: string; type: string }
	/** The server's rendition, or else the page's fallback. */
	| { kind: 'rendition'; url: string; otherwise: ImageSource }
	/** Neither the browser nor the server can draw it. */
	| { kind: 'none' };

/** The URL that a picture is drawn from; its type and size come from its bytes. */
export function imageSource(file: Drawn, { type, isIcon, pixels }: Picture): ImageSource {
	const extension = extensionOf(file.name);
	const isUndrawn = type === undrawnType || needsRendition(file.name, 0);
	if (isUndrawn || (type !== undefined && needsRendition(file.name, pixels))) {
		const otherwise = isUndrawn || pixels > maxPixels ? ({ kind: 'none' } as const) : ownSource(file, extension, type);
		return { kind: 'rendition', url: file.renditionUrl, otherwise };
	}
	if (isIcon && pixels > maxPixels) return { kind: 'none' };
	// A browser goes by the bytes, whatever the name: it draws formats (JPEG XL) whose sizes are not read here.
	if (type === undefined && extension !== 'svg' && !isIcon) return { kind: 'none' };
	return ownSource(file, extension, type);
}

/** The picture from its own bytes. */
function ownSource(file: Drawn, extension: string, type: string | undefined): ImageSource {
	if (contentType(file.name).startsWith('image/')) return { kind: 'address', url: file.url };
	return { kind: 'blob', url: file.url, type: type ?? (extension === 'svg' ? 'image/svg+xml' : 'image/x-icon') };
}
