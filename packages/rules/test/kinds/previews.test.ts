import test from 'ava';
import {
	effectivePreviewKind,
	hasThumbnail,
	needsRendition,
	type PreviewKind,
	previewLimits,
	previewOf,
	sniff,
	sniffedBytes,
} from '../../src/index.js';

const mb = 1024 * 1024;

const previewed = test.macro({
	exec: (t, name: string, kind: PreviewKind, limit: number) => {
		t.deepEqual(previewOf(name, limit), { kind, limit, isPreviewable: true });
		t.deepEqual(previewOf(name, limit + 1), { kind, limit, isPreviewable: false });
	},
	title: (_, name, kind) => `${name} is previewed as ${kind} up to its size limit only`,
});
test(previewed, 'photo.JPG', 'image', 50 * mb);
test(previewed, 'drawing.svg', 'image', 50 * mb);
test(previewed, 'phone.heic', 'image', 50 * mb);
test(previewed, 'film.mp4', 'video', 500 * mb);
test(previewed, 'old.avi', 'video', 500 * mb);
test(previewed, 'song.flac', 'audio', 100 * mb);
test(previewed, 'paper.pdf', 'pdf', 100 * mb);
test(previewed, 'book.epub', 'epub', 100 * mb);
test(previewed, 'letter.docx', 'document', 50 * mb);
test(previewed, 'table.xlsx', 'document', 50 * mb);
test(previewed, 'slides.odp', 'document', 50 * mb);
for (const name of ['a.txt', 'a.md', 'a.csv', 'a.html', 'a.xml', 'a.py', 'a.log', 'a.yaml', 'Makefile', '.gitignore']) {
	test(previewed, name, 'text', mb);
}

for (const name of ['a.zip', 'a.exe', 'a.psd', 'a.ttf', 'a.sqlite', 'a', 'a.constructor', '.hidden', 'a.bak']) {
	test(`${name} has no preview`, (t) => {
		t.deepEqual(previewOf(name, 1), { kind: 'unknown', limit: 0, isPreviewable: false });
	});
}

test('the preview limits in MB are text 1, image 50, video 500, audio 100, pdf 100, document 50, epub 100', (t) => {
	const expected = { text: 1, image: 50, video: 500, audio: 100, pdf: 100, document: 50, epub: 100 };
	t.deepEqual(
		previewLimits,
		Object.fromEntries(Object.entries(expected).map(([kind, limit]) => [kind, limit * mb])) as never,
	);
});

for (const name of ['a.jpg', 'a.HEIC', 'a.tiff', 'a.webp', 'a.avif', 'a.mp4', 'a.mkv', 'a.pdf']) {
	test(`${name} may have a thumbnail`, (t) => t.true(hasThumbnail(name)));
}
for (const name of ['a.svg', 'a.bmp', 'a.ico', 'a.mp3', 'a.epub', 'a.docx', 'a.txt', 'a.zip', 'a']) {
	test(`${name} has no thumbnail`, (t) => t.false(hasThumbnail(name)));
}

test('images that no browser displays, and very large ones, need a rendition', (t) => {
	t.true(needsRendition('a.HEIC', 0));
	t.true(needsRendition('a.tif', 100));
	t.true(needsRendition('a.jpg', 60_000_001));
	t.false(needsRendition('a.jpg', 60_000_000));
	t.false(needsRendition('a.png', 0));
});

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const zip = (first: string) => bytes(`PK\x03\x04${'\0'.repeat(26)}${first}`);

const heads: Readonly<Record<string, [Uint8Array, ReturnType<typeof sniff>]>> = {
	PNG: [bytes('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'), 'image'],
	JPEG: [bytes('\xFF\xD8\xFF\xE0\0\x10JFIF'), 'image'],
	GIF: [bytes('GIF89a\x01\0'), 'image'],
	WebP: [bytes('RIFF\x10\0\0\0WEBPVP8 '), 'image'],
	HEIC: [bytes('\0\0\0\x18ftypheic\0\0\0\0'), 'image'],
	AVIF: [bytes('\0\0\0\x18ftypavif\0\0\0\0'), 'image'],
	TIFF: [bytes('II*\0\x08\0\0\0'), 'image'],
	BMP: [bytes('BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x02'), 'image'],
	MP4: [bytes('\0\0\0\x18ftypisom\0\0\x02\0isomavc1'), 'video'],
	Matroska: [bytes('\x1a\x45\xdf\xa3\x01\0\0\0\0\0\0\x0b\x42\x82\x88matroska'), 'video'],
	'MPEG transport stream': [bytes(`G@\0\x10${'x'.repeat(184)}`.repeat(5)), 'video'],
	'MPEG transport stream of a camera': [bytes(`\0\0\0\0G@\0\x10${'x'.repeat(184)}`.repeat(5)), 'video'],
	AVI: [bytes('RIFF\x10\0\0\0AVI LIST'), 'video'],
	WAVE: [bytes('RIFF\x10\0\0\0WAVEfmt '), 'audio'],
	FLAC: [bytes('fLaC\0\0\0\x22'), 'audio'],
	'MP3 with a tag': [bytes('ID3\x04\0\0'), 'audio'],
	'MP3 without a tag': [bytes('\xFF\xFB\x90\x64\0\0'), 'audio'],
	'Ogg with sound': [bytes('OggS\0\x02\0\0\0\0\0\0\0\0OpusHead'), 'audio'],
	'Ogg with pictures': [bytes('OggS\0\x02\0\0\0\0\0\0\0\0\x80theora'), 'video'],
	PDF: [bytes('%PDF-1.7\n'), 'pdf'],
	EPUB: [zip('mimetypeapplication/epub+zip'), 'epub'],
	'Word document': [zip('[Content_Types].xml'), 'document'],
	'OpenDocument text': [zip('mimetypeapplication/vnd.oasis.opendocument.text'), 'document'],
	'old Word document': [bytes('\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1'), 'document'],
	ZIP: [zip('photo.jpg'), undefined],
	'ELF program': [bytes('\x7FELF\x02\x01\x01\0'), undefined],
	'HLS playlist': [bytes('#EXTM3U\n#EXTINF:4,\nhttp://elsewhere/a.ts\n'), 'playlist'],
	'DASH manifest': [bytes('<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011">'), 'playlist'],
	'playlist behind a declaration, a document type and comments': [
		bytes('\xEF\xBB\xBF<?xml version="1.0"?>\n<!-- 1 > 0 --><!-- -->\n<!DOCTYPE smil SYSTEM "a.dtd">\n<!----> <SMIL>'),
		'playlist',
	],
	'page behind comments': [bytes(`${'<!-- note -->\n'.repeat(30)}<html lang="en">`), 'text'],
	'only comments': [bytes('<!---->'.repeat(sniffedBytes / 7)), 'text'],
	'a comment without an end': [bytes(`${'<!-- '.repeat(300)}<smil>`), 'text'],
	'ffmpeg concat list': [bytes('ffconcat version 1.0\nfile /etc/passwd\n'), 'playlist'],
	'HTML page': [bytes('<!doctype html><script>1</script>'), 'text'],
	'UTF-16': [bytes('\xFF\xFEa\0b\0'), 'text'],
	'empty file': [new Uint8Array(), 'text'],
};
for (const [name, [head, kind]] of Object.entries(heads)) {
	test(`${name} is recognized as ${kind ?? 'no kind'} by its first bytes`, (t) => {
		t.is(sniff(head), kind);
	});
}

const head = (name: keyof typeof heads) => (heads[name] as [Uint8Array, unknown])[0];

test('a file whose first bytes contradict its name is shown by its first bytes, or not at all', (t) => {
	t.is(effectivePreviewKind('image', head('PDF')), 'pdf');
	t.is(effectivePreviewKind('text', head('PNG')), 'image');
	t.is(effectivePreviewKind('text', head('ELF program')), 'unknown');
	t.is(effectivePreviewKind('video', head('HLS playlist')), 'unknown');
	t.is(effectivePreviewKind('pdf', head('EPUB')), 'epub');
});

test('a file whose first bytes do not contradict its name is shown by its name', (t) => {
	t.is(effectivePreviewKind('image', head('HTML page')), 'image');
	t.is(effectivePreviewKind('text', head('HTML page')), 'text');
	t.is(effectivePreviewKind('text', head('HLS playlist')), 'text');
	t.is(effectivePreviewKind('audio', head('MP4')), 'audio');
	t.is(effectivePreviewKind('document', head('Word document')), 'document');
	t.is(effectivePreviewKind('epub', head('ZIP')), 'epub');
});

const spoken: Readonly<Record<string, string>> = {
	'an API Blueprint': 'FORMAT: 1A\nHOST: https://api.example.com/\n\n# My API\n',
	'a form of an authority': 'FORM 10-K\nANNUAL REPORT PURSUANT TO SECTION 13\n',
	'a list of sound files': 'FORM sizeAIFF is how an AIFF begins\n',
	'notes on riffs': 'RIFFS to practise:\n- Smoke on the water\n',
	'notes on WAVE': 'RIFFsizeWAVEfmt is how a WAVE begins\n',
	'notes on decision trees': 'ID3 is an algorithm that builds decision trees.\n',
	'notes on Ogg': 'OggS is the capture pattern of a page.\n',
	'notes on MIDI': 'MThd is the chunk of the header.\n',
	'notes on FLAC': 'fLaC, then blocks\n',
	'notes on AMR': '#!AMR, then frames\n',
	'notes on GIF': 'GIF89a is a format.\n',
	'notes on rich text': '{\\rtf is how a rich text begins\n',
	'a box of MP4': 'sizeftypheic is how a picture begins\n',
	'a source that recognizes PDFs':
		'// One begins with this:\nexport const isPdf = (head: string) => head.startsWith("%PDF-");\n',
	'a table of signatures': 'name,magic\npdf,%PDF-1.7\n',
	'notes on PDF': '%PDF- is how a PDF begins\n',
	...Object.fromEntries(
		[...'(48@l|'].map((length) => [`a table with ${length}`, `BMI|age|gender${length}smoker\n22.1\n`]),
	),
};
for (const [name, text] of Object.entries(spoken)) {
	for (const [encoding, content] of Object.entries({ ASCII: text, 'UTF-8': `${text}\xC3\xA4\xE2\x82\xAC` })) {
		test(`${name} in ${encoding} is a text, though it begins as other files do`, (t) => {
			t.is(effectivePreviewKind('text', bytes(content)), 'text');
			t.is(effectivePreviewKind('text', bytes(content + 'more words, '.repeat(1000))), 'text');
		});
	}
}

test('a file that is named as a text and is none is shown by its first bytes', (t) => {
	for (const [name, [content, kind]] of Object.entries(heads)) {
		t.is(effectivePreviewKind('text', content), kind === 'playlist' ? 'text' : (kind ?? 'unknown'), name);
	}
	t.is(effectivePreviewKind('text', bytes('%PDF-1.4\n1 0 obj\n<<>>\nendobj\n')), 'pdf', 'of letters only');
	t.is(effectivePreviewKind('text', bytes('\0\n%PDF-1.4\n\x01\x02')), 'pdf', 'behind other bytes');
	t.is(effectivePreviewKind('text', bytes('{\\rtf1\\ansi Hello}')), 'document');
	t.is(effectivePreviewKind('text', bytes('{\\rtf\\ansi Hello}')), 'document');
	t.is(effectivePreviewKind('text', bytes(`BM${'\0'.repeat(12)}\x28 no length`)), 'unknown');
	// Mail and servers leave lines before one.
	t.is(sniff(bytes('Content-Type: application/pdf\n\n%PDF-1.4\n')), 'pdf');
});
