/** The sentences of the page of a share. */
export const sharePageMessages = {
	sharedBy: (name: string) => `Shared by ${name}`,
	from: 'From',
	until: (day: string, time: string) => `Until ${day}, ${time}`,
	limited: 'These files can be downloaded, and not viewed here.',
	onlyReceives: 'This share only receives files.',

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
} as const;
