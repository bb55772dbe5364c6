import { plural, type ShareMode, type ShareState } from '@stowage/rules';

const day = 24 * 60 * 60_000;

const modes: Record<ShareMode, string> = { view: 'View and download', upload: 'Upload files', both: 'Both' };
const states: Record<ShareState, string> = {
	active: 'Active',
	paused: 'Paused',
	expired: 'Expired',
	used: 'Used up',
	gone: 'Gone',
};

/** The sentences of shares: how they are made, changed and ended. */
export const shareMessages = {
	share: 'Share',
	lead: 'Whoever has the link can open it without an account.',
	can: 'Can',
	modes,
	expires: 'Expires',
	date: 'Date',
	password: 'Password',
	passwordHint: 'At least 8 characters. Leave it empty for none.',
	passwordNeeded: 'At least 8 characters. A share needs one on this server.',
	passwordKept: 'Leave it empty to keep the one there is.',
	removePassword: 'No password any more',
	limitDownloads: 'Limit downloads',
	limitDownloadsHint: 'How many people can download it. Leave it empty for no limit.',
	limitUploads: 'Limit uploads',
	limitUploadsHint: 'How much it can receive in all. Leave it empty for no limit.',
	uploadUnit: 'Unit of the limit of uploads',
	askName: 'Ask for a name',
	title: 'Title',
	message: 'Message',
	create: 'Create Share',
	createFailed: 'Error creating share',
	lifetime: (milliseconds: number) =>
		`Shares end after ${plural(Math.max(1, Math.round(milliseconds / day)), 'day')} at the latest on this server.`,
	more: (count: number) => `and ${count} more`,

	pastDate: 'Please choose a day that has not ended.',
	shortPassword: 'The password must have at least 8 characters.',
	neededPassword: 'A share needs a password on this server.',
	wrongLimit: 'The limit of downloads must be a whole number from 1.',
	wrongRoom: 'The limit of uploads must be a size such as 10 GB.',

	link: 'Link',
	qrCode: 'QR code',
	copyLink: 'Copy Link',
	never: 'Never expires',
	expiresAt: (date: string, time: string) => `Expires ${date} at ${time}`,
	expiredAt: (date: string, time: string) => `Expired ${date} at ${time}`,
	hasPassword: 'With a password',
	ofRoom: (received: string, room: string) => `${received} of ${room}`,
	findAgain: 'You find it again under My links.',

	shares: 'Shares',
	states,
	edit: 'Edit',
	editShare: 'Edit Share',
	save: 'Save',
	saveFailed: 'Error saving share',
	pause: 'Pause',
	resume: 'Resume',
	paused: (title: string) => `Paused ${title}`,
	resumed: (title: string) => `Resumed ${title}`,
	delete: 'Delete',
	deleteShare: 'Delete Share',
	deleteLead: (title: string) => `The link to ${title} stops working at once, also for those who have it.`,
	deleted: (title: string) => `Deleted the share ${title}`,
	deleteFailed: 'Error deleting share',
	changeFailed: 'Error changing share',
	noLink: 'The link was made with another key of the server and can’t be shown.',
	lastUsed: (date: string) => `last used ${date}`,
} as const;
