import { extensionOf, type FileType, fileType } from './fileTypes.js';

export const previewKinds = ['image', 'video', 'audio', 'pdf', 'epub', 'text', 'document'] as const;

export type PreviewKind = (typeof previewKinds)[number];

const megabyte = 1024 * 1024;

/** The largest file of each kind that is previewed, in bytes (spec, section 9). */
export const previewLimits: Readonly<Record<PreviewKind, number>> = {
	text: megabyte,
	image: 50 * megabyte,
	video: 500 * megabyte,
	audio: 100 * megabyte,
	pdf: 100 * megabyte,
	document: 50 * megabyte,
	epub: 100 * megabyte,
};

export interface Preview {
	kind: PreviewKind | 'unknown';
	/** Bytes; 0 where there is no preview at all. */
	limit: number;
	/** There is a viewer for its kind and it is not too large for that. */
	isPreviewable: boolean;
}

/** The preview for a file of that name and size. */
export function previewOf(name: string, size: number): Preview {
	const kind = previewKind(name);
	const limit = kind === 'unknown' ? 0 : previewLimits[kind];
	return { kind, limit, isPreviewable: size <= limit && kind !== 'unknown' };
}

const thumbnailKinds: ReadonlySet<string> = new Set<PreviewKind>(['image', 'video', 'pdf']);

/** Images that only browsers draw: a drawing may fetch other files, and no decoder of a server reads the other two. */
const withoutDecoder: readonly string[] = ['svg', 'bmp', 'ico'];

/** Whether a server has a decoder for images of that extension, in lower case and without its dot. */
export function hasDecoder(extension: string): boolean {
	return !withoutDecoder.includes(extension);
}

/** Whether a server with the usual renderers makes a small picture of a file of that name. */
export function hasThumbnail(name: string): boolean {
	return thumbnailKinds.has(previewKind(name)) && hasDecoder(extensionOf(name));
}

/** Pictures that browsers don't draw by themselves. */
const withoutBrowserSupport: readonly string[] = ['tif', 'tiff', 'heic', 'heif'];

/** Decoded they take four bytes each, as memory of the page. */
const maxComfortablePixels = 60_000_000;

/** Whether a picture with this name, and this many pixels as far as is known, is better shown as a rendition made by the server. */
export function needsRendition(name: string, pixels: number): boolean {
	return withoutBrowserSupport.includes(extensionOf(name)) || pixels > maxComfortablePixels;
}

/** Types of which every extension has the same viewer. */
const kindsOfTypes: Partial<Record<FileType, PreviewKind>> = {
	pdf: 'pdf',
	epub: 'epub',
	video: 'video',
	audio: 'audio',
	text: 'text',
	markdown: 'text',
	code: 'text',
	script: 'text',
	config: 'text',
	log: 'text',
};

/** The others, by extension. */
const extensions: Partial<Record<PreviewKind, string>> = {
	image: 'png jpg jpeg jpe jfif gif webp avif svg bmp ico tif tiff heic heif',
	document: 'docx doc odt rtf xls xlsx ods ppt pptx odp',
	text: 'csv tsv pem csr asc',
};

const kindsOfExtensions = new Map<string, PreviewKind>();
for (const [kind, list] of Object.entries(extensions)) {
	for (const extension of list.split(' ')) kindsOfExtensions.set(extension, kind as PreviewKind);
}

/** Texts that are known by their whole name, in lower case. */
const textNames: ReadonlySet<string> = new Set(
	'readme license licence copying authors changelog changes notice todo install makefile dockerfile containerfile vagrantfile jenkinsfile gemfile rakefile procfile .gitignore .gitattributes .gitmodules .dockerignore .npmrc .npmignore .editorconfig .env .bashrc .bash_profile .profile .zshrc .vimrc .htaccess'.split(
		' ',
	),
);

function previewKind(name: string): PreviewKind | 'unknown' {
	const extension = extensionOf(name);
	if (extension === '' || name.startsWith('.')) {
		if (textNames.has(name.toLowerCase())) return 'text';
	}
	return kindsOfExtensions.get(extension) ?? kindsOfTypes[fileType(name)] ?? 'unknown';
}
