import { parseBlob, selectCover } from 'music-metadata';
import { maxPixels, pixelsOf } from '../common/images/pixels.js';
import { countTags } from '../common/tagCount/countTags.js';

/** What a sound file says about itself. */
export interface Tags {
	title: string | undefined;
	artist: string | undefined;
	album: string | undefined;
	cover: Uint8Array<ArrayBuffer> | undefined;
}

/** A longer one is no title. */
const maxCharacters = 500;

/** A bound on tags that `countTags` has overlooked. */
const maxTags = 5000;

/** Throws for a file without tags, or with more than a song has. */
export async function tagsOf(file: Blob): Promise<Tags> {
	// They are read as they were counted: by its name, a file could be of another format.
	const type = await countTags(file);
	if (type === undefined) throw new Error('A file of its format has no tags.');
	const { size } = file;
	const slice = file.slice.bind(file);
	let count = 0;
	// Made once, since it is thrown for each tag after these.
	const tooMany = new Error('There are too many tags.');
	const observer = () => {
		if (++count > maxTags) throw tooMany;
	};
	const { common } = await parseBlob({ size, type, slice } as Blob, { duration: false, observer });
	const picture = selectCover(common.picture);
	const text = (value: string | undefined) => value?.slice(0, maxCharacters).trim() || undefined;
	return {
		title: text(common.title),
		artist: text(common.artist),
		album: text(common.album),
		cover: picture && pixelsOf(picture.data) <= maxPixels ? new Uint8Array(picture.data) : undefined,
	};
}
