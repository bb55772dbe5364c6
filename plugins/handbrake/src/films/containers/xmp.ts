import { KnownNames } from '../texts/names.js';
import type { Findings } from './reading/scanner.js';

/** Namespaces by the prefixes that programs usually give them; here a packet may give them others. */
const prefixes: ReadonlyMap<string, string> = new Map([
	['adobe:ns:meta/', 'x'],
	['http://www.w3.org/1999/02/22-rdf-syntax-ns#', 'rdf'],
	['http://purl.org/dc/elements/1.1/', 'dc'],
	['http://ns.adobe.com/xap/1.0/', 'xmp'],
	['http://ns.adobe.com/xap/1.0/mm/', 'xmpMM'],
	['http://ns.adobe.com/xap/1.0/rights/', 'xmpRights'],
	['http://ns.adobe.com/xmp/1.0/DynamicMedia/', 'xmpDM'],
	['http://ns.adobe.com/xap/1.0/sType/ResourceRef#', 'stRef'],
	['http://ns.adobe.com/xap/1.0/sType/ResourceEvent#', 'stEvt'],
	['http://ns.adobe.com/xap/1.0/sType/Dimensions#', 'stDim'],
	['http://ns.adobe.com/xap/1.0/sType/ManifestItem#', 'stMfs'],
	['http://ns.adobe.com/creatorAtom/1.0/', 'creatorAtom'],
	['http://ns.adobe.com/photoshop/1.0/', 'photoshop'],
	['http://ns.adobe.com/tiff/1.0/', 'tiff'],
	['http://ns.adobe.com/exif/1.0/', 'exif'],
	['http://ns.adobe.com/exif/1.0/aux/', 'aux'],
	['http://cipa.jp/exif/1.0/', 'exifEX'],
	['http://ns.adobe.com/lightroom/1.0/', 'lr'],
	['http://www.digikam.org/ns/1.0/', 'digiKam'],
	['http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/', 'Iptc4xmpCore'],
	['http://iptc.org/std/Iptc4xmpExt/2008-02-29/', 'Iptc4xmpExt'],
]);

/** Our names for properties that people fill in; others have their own. */
const labels: ReadonlyMap<string, string> = new Map([
	['photoshop:Headline', 'title'],
	['xmpDM:logComment', 'comment'],
	['dc:subject', 'keywords'],
	['lr:hierarchicalSubject', 'keywords'],
	['digiKam:TagsList', 'keywords'],
	['dc:creator', 'artist'],
	['dc:rights', 'copyright'],
	['Iptc4xmpExt:PersonInImage', 'people'],
	['mwg-rs:Regions', 'people'],
	['photoshop:City', 'place'],
	['Iptc4xmpCore:Location', 'place'],
	['exif:GPSLatitude', 'place'],
	['exif:GPSLongitude', 'place'],
	['tiff:Make', 'camera'],
	['tiff:Model', 'camera'],
]);

/** Properties that programs fill in, with all that is in them: what they did when, and of which files, and how the film is encoded. */
const technical = new KnownNames(
	[
		...['xmp:CreateDate', 'xmp:ModifyDate', 'xmp:MetadataDate', 'xmp:CreatorTool', 'xmp:Thumbnails', 'dc:format'],
		...['tiff:Software', 'pdf:Producer', 'xmpNote:HasExtendedXMP', 'MicrosoftPhoto:DateAcquired'],
		...['photoshop:ColorMode', 'photoshop:ICCProfile', 'photoshop:History', 'photoshop:LegacyIPTCDigest'],
		...['photomechanic:Prefs', 'photomechanic:PMVersion', 'acdsee:rpp', 'acdsee:dpp', 'acdsee:datetime'],
		...['xmpDM:duration', 'xmpDM:startTimecode', 'xmpDM:altTimecode', 'xmpDM:startTimeScale', 'xmpDM:pullDown'],
		...['xmpDM:startTimeSampleSize', 'xmpDM:fileDataRate', 'xmpDM:projectRef', 'xmpDM:metadataModDate'],
		...['xmpDM:contributedMedia', 'xmpDM:relativeTimestamp', 'xmpDM:resampleParams', 'xmpDM:timeScaleParams'],
		...['xmpDM:beatSpliceParams', 'xmpDM:stretchMode', 'xmpDM:speakerPlacement', 'xmpDM:absPeakAudioFilePath'],
		...['xmpDM:relativePeakAudioFilePath', 'xmpDM:trackName', 'xmpDM:trackType', 'xmpDM:frameRate'],
	],
	[
		/^(?:xmpMM|stRef|stEvt|stDim|stMfs|creatorAtom):/,
		/^xmpDM:video(?:Frame|Pixel|Color|Alpha|Compressor|Field|ModDate)\w*$/,
		/^xmpDM:audio(?:Sample|Channel|Compressor|ModDate)\w*$/,
	],
);

/** Numbers of cameras. Their words are texts, and so is a place. */
const ofCameras = /^(?:tiff|exif|exifEX|aux):(?!GPS)/;
const isNumber = (value: string) => /^(?:[\d\s./:,+TZ-]*|true)$/i.test(value);

/** Says nothing of a film: nobody has filled it in. */
const unsaid: ReadonlySet<string> = new Set(['', '0', 'false']);

/** A list of lists, of which each has its own name. */
const tracks = 'xmpDM:Tracks';

const maxTexts = 100;

/** The most bytes of a packet that are read, and of all of a film: joined recordings have one each. */
const maxPacket = 2 ** 20;
const maxOfFilm = 4 * 2 ** 20;

/** The property in which a value is. */
interface Property {
	/** Undefined outside all, and for one of a program. */
	label: string | undefined;
	kind: 'none' | 'technical' | 'of a camera' | 'text';
}

const noProperty: Property = { label: undefined, kind: 'none' };
const ofProgram: Property = { label: undefined, kind: 'technical' };

const attribute = /\s*([^\s=<>"'/]+)\s*=\s*(["'])/y;

/** Reads the packets of XMP that a film has, as far as that is no more than of any film. */
export class XmpOfFilm {
	readonly #found: Findings;
	#bytesLeft = maxOfFilm;

	constructor(found: Findings) {
		this.#found = found;
	}

	/** Whether a packet of this length is still read; others count as what no program reads. */
	reads(length: number): boolean {
		return length <= Math.min(maxPacket, this.#bytesLeft);
	}

	/** Adds the names of the texts in a packet. */
	take(packet: Buffer): void {
		this.#bytesLeft -= packet.length;
		for (const text of textsOfXmp(packet)) this.#found.addText(text);
	}
}

/**
 * The names of the texts in XMP: of all properties with a value but for those that are known to be of programs. A property is an
 * attribute or an element, which may contain a list. It takes some 100 ms for a megabyte.
 */
export function textsOfXmp(bytes: Uint8Array): string[] {
	const xmp = new TextDecoder().decode(bytes);
	const texts = new Set<string>();
	const given = new Map<string, string>();
	const parents: Property[] = [];
	let property = noProperty;
	let elements = 0;
	const plainName = (name: string) => {
		const colon = name.indexOf(':');
		const prefix = given.get(name.slice(0, Math.max(0, colon)));
		return prefix === undefined ? name : `${prefix}${name.slice(colon)}`;
	};
	const propertyOf = (name: string, within: Property): Property => {
		if (within.kind === 'technical' || /^(?:rdf|x):/.test(name) || name === tracks) return within;
		if (technical.has(name)) return ofProgram;
		if (within.kind !== 'none') return within;
		const label = labels.get(name) ?? name.slice(name.indexOf(':') + 1).toLowerCase();
		return { label, kind: ofCameras.test(name) ? 'of a camera' : 'text' };
	};
	const take = ({ label, kind }: Property, text: string) => {
		if (label === undefined || text === '' || texts.size === maxTexts) return;
		const value = text.replaceAll('\0', '').trim();
		if (unsaid.has(value.toLowerCase())) return;
		if (kind === 'text' || !isNumber(value)) texts.add(label);
	};
	/** Takes the head of an element from behind its name on; the offset behind it, undefined if it does not end. */
	const takeHead = (name: string, begin: number): number | undefined => {
		const attributes: (readonly [string, string])[] = [];
		let at = begin;
		while (xmp[at] !== '>') {
			attribute.lastIndex = at;
			const [, key = '', quote = ''] = attribute.exec(xmp) ?? [];
			if (key === '') break;
			const from = attribute.lastIndex;
			const to = xmp.indexOf(quote, from);
			if (to < 0) return undefined;
			const prefix = key.startsWith('xmlns:') ? prefixes.get(xmp.slice(from, to)) : undefined;
			if (prefix !== undefined) given.set(key.slice('xmlns:'.length), prefix);
			attributes.push([key, xmp.slice(from, to)]);
			at = to + 1;
		}
		const end = xmp.indexOf('>', at);
		if (end < 0) return undefined;
		elements++;
		const own = propertyOf(plainName(name), property);
		for (const [key, value] of attributes) {
			const plain = plainName(key);
			if (!/^(?:xmlns\b|xml:|x:|rdf:(?!value$|resource$))/.test(plain)) take(propertyOf(plain, own), value);
		}
		if (xmp[end - 1] !== '/') {
			parents.push(property);
			property = own;
		}
		return end + 1;
	};
	for (let at = xmp.indexOf('<'); at >= 0; ) {
		let behind: number | undefined;
		const ending = endings.find(([beginning]) => xmp.startsWith(beginning, at));
		if (ending !== undefined) {
			const [beginning, end] = ending;
			const to = xmp.indexOf(end, at + beginning.length);
			behind = to < 0 ? undefined : to + end.length;
			if (beginning === '<![CDATA[') take(property, xmp.slice(at + beginning.length, behind && to));
			if (beginning === '</') property = parents.pop() ?? noProperty;
		} else {
			elementName.lastIndex = at + 1;
			// Without the match itself, which would be memory for each element.
			const end = elementName.test(xmp) ? elementName.lastIndex : at + 1;
			behind = end === at + 1 ? end : takeHead(xmp.slice(at + 1, end), end);
		}
		if (behind === undefined) break;
		at = xmp.indexOf('<', behind);
		take(property, xmp.slice(behind, at < 0 ? undefined : at));
	}
	// It is in another encoding.
	if (elements === 0 && xmp.includes('<')) texts.add('XMP');
	return [...texts];
}

const elementName = /[^\s<>"'/=\0]+/y;

/** What begins with an angle bracket and is no head of an element, and how it ends. */
const endings = [
	['<![CDATA[', ']]>'],
	['<!--', '-->'],
	['<?', '?>'],
	['<!', '>'],
	['</', '>'],
] as const;
