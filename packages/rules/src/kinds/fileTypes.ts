import { splitName } from '../names/names.js';

/** The extensions of each file type (spec, section 3). */
const extensions = {
	pdf: 'pdf',
	document: 'doc docx docm dot dotx odt ott rtf pages wpd wps',
	text: 'txt text nfo srt vtt sub ass ssa lrc bib tex diff patch po',
	epub: 'epub',
	spreadsheet: 'xls xlsx xlsm xlsb xlt xltx ods ots csv tsv numbers',
	image:
		'png jpg jpeg jpe jfif gif webp avif svg bmp ico tif tiff heic heif jxl psd ai eps raw cr2 cr3 nef arw dng orf raf rw2 xcf',
	video: 'mp4 m4v mkv webm mov avi wmv flv f4v mpg mpeg mpe m2v ogv 3gp 3g2 mts m2ts vob asf rm rmvb divx',
	audio: 'mp3 m4a m4b aac ogg oga opus flac wav weba wma aif aiff aifc mid midi amr ape alac mka ac3 dts',
	archive: 'zip rar 7z tar gz tgz bz2 tbz2 xz txz zst tzst lz lz4 lzma br z cab iso dmg cpio zipx',
	code: 'js mjs cjs jsx ts tsx vue svelte html htm xhtml xml xsl xslt xsd css scss sass less styl json jsonc json5 ndjson geojson c h cc cpp cxx hh hpp hxx m mm cs fs vb java kt kts scala groovy gradle clj cljs py pyi pyx ipynb rb php go rs swift dart lua pl pm r jl hs elm erl ex exs ml mli lisp el scm rkt asm s d nim zig v sv vhd vhdl sol wat proto graphql gql sql f f90 pas pp ada cob cmake tf hbs ejs pug twig',
	executable:
		'exe msi msix com scr dll so dylib sys app apk aab ipa deb rpm snap flatpak appimage jar war bin elf o wasm run pkg',
	presentation: 'ppt pptx pptm pps ppsx pot potx odp otp',
	markdown: 'md markdown mdown mkd mdx',
	database: 'db db3 sqlite sqlite3 s3db mdb accdb dbf mdf ldf frm ibd myd parquet',
	font: 'ttf otf ttc woff woff2 eot pfb pfm',
	script: 'sh bash zsh fish ksh csh ps1 psm1 psd1 bat cmd vbs awk sed ahk applescript',
	config: 'ini cfg conf config env yaml yml toml properties plist reg editorconfig service desktop rc lock',
	log: 'log out err trace',
	certificate: 'pem crt cer der key p12 pfx p7b p7c csr jks keystore gpg asc pub',
	backup: 'bak backup old orig tmp swp bkp bkf dump',
} as const;

export type FileType = keyof typeof extensions | 'other';

const typesByExtension = new Map<string, FileType>();
for (const [type, list] of Object.entries(extensions)) {
	for (const extension of list.split(' ')) typesByExtension.set(extension, type as FileType);
}

/** The kind of a file by the extension of its name; `'other'` for an unknown one. */
export function fileType(name: string): FileType {
	return typesByExtension.get(extensionOf(name)) ?? 'other';
}

/** The extension in lower case and without its dot; `''` if there is none. */
export function extensionOf(name: string): string {
	return splitName(name).extension.slice(1).toLowerCase();
}
