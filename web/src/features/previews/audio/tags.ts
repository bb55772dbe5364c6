import { parseBlob, selectCover } from 'music-metadata';
import { maxPixels, pixelsOf } from '../common/images/pixels.js';

/** What a sound file says about itself. */
export interface Tags {
	title: string | undefined;
	artist: string | undefined;
	album: string | undefined;
	cover: Uint8Array<ArrayBuffer> | undefined;
}

/** A longer one is no title. */
const maxLetters = 500;

/** In formats that no browser plays, too. */
const maxTags = 5000;

/** Throws for a file without tags, or with more than a song has. */
export async function tagsOf(file: Blob): Promise<Tags> {
	let count = 0;
	const observer = () => {
		if (++count > maxTags) throw new Error('There are too many tags.');
	};
	const { common } = await parseBlob(file, { duration: false, observer });
	const picture = selectCover(common.picture);
	const text = (value: string | undefined) => value?.slice(0, maxLetters).trim() || undefined;
	return {
		title: text(common.title),
		artist: text(common.artist),
		album: text(common.album),
		cover: picture && pixelsOf(picture.data) <= maxPixels ? new Uint8Array(picture.data) : undefined,
	};
}
