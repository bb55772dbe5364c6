import type { PreviewKind } from '@stowage/rules';

/** The sentences of the viewers (spec, section 8). */
export const previewMessages = {
	download: 'Download',
	close: 'Close',
	move: 'Move',
	loading: 'Loading',
	previous: 'Previous',
	next: 'Next',
	notAvailable: 'Preview not available',
	tooLarge: (limit: string) => `It is larger than ${limit}, up to which files of this kind are shown.`,
	tryAgain: 'Try Again',

	failures: {
		image: ['Failed to load image'],
		video: ['Cannot play video', 'Failed to load the video file.'],
		audio: ['Cannot play audio', 'Failed to load the audio file.'],
		text: ['Failed to load file'],
		pdf: ['Cannot preview PDF', 'Failed to load the PDF file.'],
		document: ['Failed to render DOCX file.'],
		epub: ['Cannot Preview EPUB'],
	} satisfies Record<PreviewKind, readonly [string, string?]>,

	zoomOut: 'Zoom out',
	zoomIn: 'Zoom in',
	zoom: 'Zoom',
	rotate: 'Rotate',
	reset: 'Reset',
	imageControls: 'Image controls',

	fullscreen: 'Fullscreen',
	subtitles: 'Subtitles',
	cover: 'Cover',

	encoding: 'Encoding',
	detected: (name: string) => `Detected (${name})`,
	view: 'View',
	source: 'Source',
	rendered: 'Rendered',
	textControls: 'Text controls',
	emptyFile: 'This file is empty.',
	columns: 'Rows of the table',

	pdfControls: 'PDF controls',
	noPdfPlugin: 'PDF plugin not available',
	openInNewTab: 'Open in a new tab',
	passwordProtected: 'It is protected by a password.',
	outline: 'Outline',
	page: 'Page',
	search: 'Search',
	notFound: 'Not found',
	foundOf: (current: number, total: number) => `${current} / ${total}`,
	previousResult: 'Previous result',
	nextResult: 'Next result',

	bookControls: 'Book controls',
	contents: 'Contents',
	chapter: (number: number) => `Chapter ${number}`,
	smallerText: 'Smaller text',
	largerText: 'Larger text',

	openExternally: 'Open in external viewer',
	externalQuestion: (file: string, viewer: string) =>
		`${file} will be sent to ${viewer}, which shows it here. It can be fetched from this server for ten minutes.`,
	tryOther: 'Try alternative viewer',
	shownBy: (viewer: string) => `Shown by ${viewer}`,
	externalOff: 'It can only be shown by an external viewer, and those are turned off on this server.',
	externalNeedsHttps: 'External viewers need a public https address, which this server has not been given.',
	cannotPreview: (type: string) => `Cannot preview ${type} file`,
} as const;
