/** Properties of XMP that people fill in, in photo programs, by our names for them. Programs fill in dates and histories. */
const xmpTexts: ReadonlyMap<string, string> = new Map([
	['dc:title', 'title'],
	['photoshop:Headline', 'title'],
	['dc:description', 'description'],
	['xmpDM:logComment', 'comment'],
	['dc:subject', 'keywords'],
	['lr:hierarchicalSubject', 'keywords'],
	['digiKam:TagsList', 'keywords'],
	['dc:creator', 'artist'],
	['dc:rights', 'copyright'],
	['xmp:Rating', 'rating'],
	['xmp:Label', 'label'],
	['Iptc4xmpExt:PersonInImage', 'people'],
	['photoshop:City', 'place'],
	['exif:GPSLatitude', 'place'],
]);

/** A longer value is said without a look at it: to look at some of a megabyte would take a second. */
const maxValue = 10_000;

/**
 * The names of the texts in XMP. A property is an attribute or an element, which may contain a list. It takes some 10 ms for a megabyte.
 */
export function textsOfXmp(bytes: Uint8Array): string[] {
	const xmp = new TextDecoder().decode(bytes);
	const textOf = (name: string): string => {
		const attribute = xmp.indexOf(` ${name}="`);
		if (attribute !== -1) {
			const begin = attribute + name.length + 3;
			return xmp.slice(begin, xmp.indexOf('"', begin));
		}
		const begin = xmp.indexOf(`<${name}`);
		const end = begin === -1 ? -1 : xmp.indexOf(`</${name}>`, begin);
		return end === -1 ? '' : xmp.slice(xmp.indexOf('>', begin) + 1, end);
	};
	const isSaid = (value: string) =>
		value.length > maxValue || !['', '0'].includes(value.replace(/<[^<>]*>/g, '').trim());
	return [...xmpTexts].filter(([name]) => isSaid(textOf(name))).map(([, text]) => text);
}
