/** The sentences of the page of a share. */
export const sharePageMessages = {
	sharedBy: (name: string) => `Shared by ${name}`,
	from: 'From',
	sendTo: (name: string) => `Send files to ${name}`,
	to: 'For',
	until: (day: string, time: string) => `Until ${day}, ${time}`,
	limited: 'These files can be downloaded, and not viewed here.',

	ended: 'This share has ended.',
	missing: 'This share does not exist or no longer works.',
	missingHint: 'Check the address, or ask whoever sent it to you.',
	failed: 'This share could not be loaded.',
	tryAgain: 'Try Again',

	password: 'Password',
	locked: 'These files have a password',
	lockedHint: 'Whoever sent you this address knows it.',
	open: 'Open',
	refused: 'The share was not opened.',
	needsCookies: 'The password is right, but your browser keeps no cookie of this site. Allow cookies, and try again.',
} as const;
