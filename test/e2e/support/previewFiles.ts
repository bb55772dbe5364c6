import { constants, crc32, deflateRawSync } from 'node:zlib';

const megabyte = 1024 * 1024;

/** Megabytes of one letter. They are compressed one by one, and never in memory as a whole. */
export class Bomb {
	readonly size: number;
	readonly packed: Buffer;

	constructor(megabytes: number) {
		this.size = megabytes * megabyte;
		const one = deflateRawSync(Buffer.alloc(megabyte, 'x'), { finishFlush: constants.Z_FULL_FLUSH });
		this.packed = Buffer.concat([...Array<Buffer>(megabytes).fill(one), deflateRawSync('')]);
	}
}

type Contents = string | Uint8Array | Bomb;

/** A ZIP of these files, in this order; the first is not compressed, as EPUB requires. */
export function zipped(files: Readonly<Record<string, Contents>>): Buffer {
	const parts: Buffer[] = [];
	const directory: Buffer[] = [];
	let at = 0;
	for (const [index, [name, content]] of Object.entries(files).entries()) {
		const isBomb = content instanceof Bomb;
		const bytes = Buffer.from(isBomb ? '' : (content as string));
		const method = index === 0 ? 0 : 8;
		const packed = isBomb ? content.packed : method === 0 ? bytes : deflateRawSync(bytes);
		const fields = Buffer.alloc(26);
		fields.writeUInt16LE(20, 0);
		fields.writeUInt16LE(0x800, 2);
		fields.writeUInt16LE(method, 4);
		fields.writeUInt32LE(crc32(bytes), 10);
		fields.writeUInt32LE(packed.length, 14);
		fields.writeUInt32LE(isBomb ? content.size : bytes.length, 18);
		fields.writeUInt16LE(Buffer.byteLength(name), 22);
		parts.push(Buffer.from('PK\x03\x04', 'latin1'), fields, Buffer.from(name), packed);
		const rest = Buffer.alloc(14);
		rest.writeUInt32LE(at, 10);
		directory.push(Buffer.from('PK\x01\x02\x14\0', 'latin1'), fields, rest, Buffer.from(name));
		at += 30 + Buffer.byteLength(name) + packed.length;
	}
	const list = Buffer.concat(directory);
	const end = Buffer.alloc(22);
	end.write('PK\x05\x06', 'latin1');
	end.writeUInt16LE(Object.keys(files).length, 8);
	end.writeUInt16LE(Object.keys(files).length, 10);
	end.writeUInt32LE(list.length, 12);
	end.writeUInt32LE(at, 16);
	return Buffer.concat([...parts, list, end]);
}

export interface BookOptions {
	/** The contents of the body of each chapter, by its file name. */
	chapters: Readonly<Record<string, string>>;
	metadata?: string;
	/** More files of the book, by their paths. */
	files?: Readonly<Record<string, Contents>>;
	/** The contents of the head of each chapter. */
	head?: string;
	/** @default 3 */
	version?: 2 | 3;
}

/** A book with a table of contents. */
export function book({
	chapters,
	metadata = '<dc:title>A Book</dc:title>',
	files = {},
	head = '',
	version = 3,
}: BookOptions): Buffer {
	const names = Object.keys(chapters);
	const page = (body: string, title: string) =>
		`<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title>${title}</title>${head}</head><body>${body}</body></html>`;
	const links = names.map((name, index) => `<li><a href="text/${name}">Chapter ${index + 1}</a></li>`).join('');
	// Books of the older version have their table of contents in another format, here in two parts.
	const ncxPoints = (from: number, to: number) =>
		names
			.slice(from, to)
			.map(
				(name, index) =>
					`<navPoint id="p${from + index}"><navLabel><text>Chapter ${from + index + 1}</text></navLabel><content src="text/${name}"/></navPoint>`,
			)
			.join('');
	const half = Math.ceil(names.length / 2);
	const part = (title: string, from: number, to: number) =>
		`<navPoint id="${title}"><navLabel><text>Part ${title}</text></navLabel><content src="text/${names[from]}"/>${ncxPoints(from, to)}</navPoint>`;
	const contents: { item: string; name: string; content: string; spine: string } =
		version === 3
			? {
					item: '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>',
					name: 'OPS/nav.xhtml',
					content: page(`<nav epub:type="toc"><ol>${links}</ol></nav>`, 'Contents'),
					spine: '<spine>',
				}
			: {
					item: '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>',
					name: 'OPS/toc.ncx',
					content: `<?xml version="1.0"?><ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1"><navMap>${part('One', 0, half)}${part('Two', half, names.length)}</navMap></ncx>`,
					spine: '<spine toc="ncx">',
				};
	return zipped({
		mimetype: 'application/epub+zip',
		'META-INF/container.xml':
			'<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles><rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
		'OPS/book.opf': `<package xmlns="http://www.idpf.org/2007/opf" version="${version}.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">${metadata}</metadata><manifest>${contents.item}${names
			.map((name, index) => `<item id="c${index}" href="text/${name}" media-type="application/xhtml+xml"/>`)
			.join(
				'',
			)}</manifest>${contents.spine}${names.map((_, index) => `<itemref idref="c${index}"/>`).join('')}</spine></package>`,
		[contents.name]: contents.content,
		...Object.fromEntries(Object.entries(chapters).map(([name, body]) => [`OPS/text/${name}`, page(body, name)])),
		...files,
	});
}

export interface WordOptions {
	/** Elements of the body in the markup of the format. */
	body: string;
	/** Relationships of the document. */
	relations?: string;
	files?: Readonly<Record<string, Contents>>;
	/** The settings of its pages, by default A4 with margins of an inch. */
	section?: string;
}

const a4 =
	'<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1440" w:right="1440" w:bottom="1440" w:left="1440"/></w:sectPr>';

export const paragraph = (text: string) => `<w:p><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;

/** A document of Word. */
export function word({ body, relations = '', files = {}, section = a4 }: WordOptions): Buffer {
	const types = 'http://schemas.openxmlformats.org/officeDocument/2006';
	return zipped({
		'[Content_Types].xml':
			'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/><Default Extension="html" ContentType="text/html"/><Default Extension="odttf" ContentType="application/vnd.openxmlformats-officedocument.obfuscatedFont"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
		'_rels/.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${types}/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
		'word/document.xml': `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="${types}/relationships"><w:body>${body}${section}</w:body></w:document>`,
		'word/_rels/document.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relations}</Relationships>`,
		...files,
	});
}

const branchPages = 20;

export interface PdfOptions {
	pages: number;
	/** Objects of the catalogue, such as an action when it is opened. */
	catalogue?: string;
	/** Additional bytes of each page, like those of pictures. */
	weight?: number;
	/** Operators that draw more on each page. */
	drawing?: string;
}

/** A document whose page n says `Page n of the paper`, with an outline of every tenth. */
export function pdf({ pages, catalogue = '', weight = 0, drawing = '' }: PdfOptions): Buffer {
	const objects: string[] = [];
	const add = (text = '') => objects.push(text);
	const root = add();
	const tree = add();
	const font = add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>');
	// As most programs write them, pages are in branches of a tree.
	const branches = Array.from({ length: Math.ceil(pages / branchPages) }, () => add());
	const kids: number[] = [];
	for (let page = 1; page <= pages; page++) {
		const text = `BT /F1 24 Tf 72 700 Td (Page ${page} of the paper) Tj ET ${drawing}${weight > 0 ? `\n%${'x'.repeat(weight)}\n` : ''}`;
		const content = add(`<< /Length ${text.length} >>\nstream\n${text}\nendstream`);
		kids.push(
			add(
				`<< /Type /Page /Parent ${branches[Math.floor((page - 1) / branchPages)]} 0 R /MediaBox [0 0 612 792] /Contents ${content} 0 R /Resources << /Font << /F1 ${font} 0 R >> >> >>`,
			),
		);
	}
	const outline = add();
	const marked = kids.filter((_, index) => index % 10 === 0);
	const first = objects.length + 1;
	for (const [index, page] of marked.entries()) {
		const before = index > 0 ? `/Prev ${first + index - 1} 0 R` : '';
		const after = index < marked.length - 1 ? `/Next ${first + index + 1} 0 R` : '';
		add(`<< /Title (Part ${index + 1}) /Parent ${outline} 0 R /Dest [${page} 0 R /Fit] ${before} ${after} >>`);
	}
	const last = first + marked.length - 1;
	objects[outline - 1] = `<< /Type /Outlines /First ${first} 0 R /Last ${last} 0 R /Count ${marked.length} >>`;
	objects[root - 1] = `<< /Type /Catalog /Pages ${tree} 0 R /Outlines ${outline} 0 R ${catalogue} >>`;
	const list = (ids: readonly number[]) => ids.map((id) => `${id} 0 R`).join(' ');
	for (const [index, branch] of branches.entries()) {
		const own = kids.slice(index * branchPages, (index + 1) * branchPages);
		objects[branch - 1] = `<< /Type /Pages /Parent ${tree} 0 R /Kids [${list(own)}] /Count ${own.length} >>`;
	}
	objects[tree - 1] = `<< /Type /Pages /Kids [${list(branches)}] /Count ${pages} >>`;
	let text = '%PDF-1.7\n';
	const offsets = objects.map((object, index) => {
		const offset = text.length;
		text += `${index + 1} 0 obj\n${object}\nendobj\n`;
		return String(offset).padStart(10, '0');
	});
	const table = text.length;
	text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.map((offset) => `${offset} 00000 n \n`).join('')}`;
	return Buffer.from(
		`${text}trailer\n<< /Size ${objects.length + 1} /Root ${root} 0 R >>\nstartxref\n${table}\n%%EOF\n`,
		'latin1',
	);
}
