import { plural } from '@stowage/rules';

/** The texts of downloads: the question before one, and the progress of a ZIP. */
export const downloadMessages = {
	confirm: 'Confirm Download',
	download: 'Download',
	asZip: 'Download as ZIP',
	folderQuestion: 'Download this folder as ZIP?',
	filesQuestion: (count: number) => `Download ${count} files?`,
	fileQuestion: 'Download this file?',
	list: 'Files to download',
	items: (count: number) => plural(count, 'item'),
	folder: 'Folder',
	totalSize: 'Total size',
	calculating: 'Calculating…',

	preparing: 'Preparing ZIP…',
	zipFailed: 'Error creating ZIP file',
	leftOut: (count: number) => `${plural(count, 'item')} can’t be read and will not be in the ZIP.`,
	downloading: (name: string) => `Downloading ${name}`,
	waiting: 'Waiting for the browser…',
	sentOf: (sent: string, size: string) => `${sent} of ${size}`,
	timeLeft: (duration: string) => `${duration} left`,
	downloaded: (name: string) => `Downloaded ${name}`,
	incomplete: (name: string) => `${name} is incomplete`,
	changedMeanwhile: 'A file was changed during the download. Download it again.',
	cancelled: 'Download cancelled',
	cancelFailed: 'The download could not be cancelled',
} as const;
