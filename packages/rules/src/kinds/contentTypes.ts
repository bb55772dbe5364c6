import { extensionOf, type FileType, fileType } from './fileTypes.js';

const anyBytes = 'application/octet-stream';

/** Types of untrusted files that a browser may show: it draws or plays them and runs none of them. */
const inlineTypes: Readonly<Record<string, string>> = {
	png: 'image/png',
	jpg: 'image/jpeg',
	jpeg: 'image/jpeg',
	jpe: 'image/jpeg',
	jfif: 'image/jpeg',
	gif: 'image/gif',
	webp: 'image/webp',
	avif: 'image/avif',
	mp3: 'audio/mpeg',
	m4a: 'audio/mp4',
	m4b: 'audio/mp4',
	aac: 'audio/aac',
	ogg: 'audio/ogg',
	oga: 'audio/ogg',
	opus: 'audio/ogg',
	flac: 'audio/flac',
	wav: 'audio/wav',
	weba: 'audio/webm',
	wma: 'audio/x-ms-wma',
	aif: 'audio/aiff',
	aiff: 'audio/aiff',
	mid: 'audio/midi',
	midi: 'audio/midi',
	amr: 'audio/amr',
	mka: 'audio/x-matroska',
	mp4: 'video/mp4',
	m4v: 'video/mp4',
	mkv: 'video/x-matroska',
	webm: 'video/webm',
	mov: 'video/quicktime',
	avi: 'video/x-msvideo',
	wmv: 'video/x-ms-wmv',
	flv: 'video/x-flv',
	mpg: 'video/mpeg',
	mpeg: 'video/mpeg',
	ogv: 'video/ogg',
	'3gp': 'video/3gpp',
	'3g2': 'video/3gpp2',
	mts: 'video/mp2t',
	m2ts: 'video/mp2t',
	pdf: 'application/pdf',
};

const textTypes: readonly FileType[] = ['text', 'markdown', 'code', 'script', 'config', 'log'];
const textSpreadsheets: readonly string[] = ['csv', 'tsv'];

/** Texts that a browser would run if it were given their true type. */
const activeTexts: readonly string[] = [
	'html',
	'htm',
	'xhtml',
	'xml',
	'xsl',
	'xslt',
	'xsd',
	'js',
	'mjs',
	'cjs',
	'jsx',
	'wat',
];

/**
 * The content type of a user's file, by its extension alone. It is never one that a browser runs, such as HTML, SVG,
 * XML, JavaScript or WebAssembly.
 */
export function contentType(name: string): string {
	const extension = extensionOf(name);
	if (Object.hasOwn(inlineTypes, extension)) return inlineTypes[extension] ?? anyBytes;
	return isHarmlessText(name, extension) ? 'text/plain; charset=utf-8' : anyBytes;
}

/** Whether a browser may show the file in place, and not only save it. */
export function mayShowInline(name: string): boolean {
	return contentType(name) !== anyBytes;
}

function isHarmlessText(name: string, extension: string): boolean {
	if (textSpreadsheets.includes(extension)) return true;
	return textTypes.includes(fileType(name)) && !activeTexts.includes(extension);
}
