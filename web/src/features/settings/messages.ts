/** The sentences of the sections 'Password' and 'My sessions'. */
export const accountMessages = {
	password: 'Password',
	passwordNote: 'A new password ends all your other sessions.',
	currentPassword: 'Current password',
	newPassword: 'New password',
	confirmNewPassword: 'Confirm new password',
	changePassword: 'Change Password',
	passwordChanged: 'Password changed',
	passwordChangedDetail: 'All other sessions were ended.',
	changePasswordFailed: 'Failed to change the password',

	sessions: 'My sessions',
	thisSession: 'This session',
	noOtherSessions: 'You are signed in nowhere else.',
	lastUsed: (date: string, time: string) => `Last used ${date} at ${time}`,
	since: (date: string, time: string) => `Since ${date} at ${time}`,
	endSession: 'End session',
	endSessionOf: (client: string) => `End session: ${client}`,
	sessionEnded: (client: string) => `Ended the session: ${client}`,
	endSessionFailed: 'Error ending session',
	endOthers: 'End all other sessions',
	endOthersQuestion: (sessions: string) => `End ${sessions}? Each of them has to sign in again.`,
	endOthersConfirm: 'End sessions',
	othersEnded: 'Ended all other sessions',
	endOthersFailed: 'Error ending sessions',
	loadFailed: 'Error loading sessions',
	loading: 'Loading sessions',
} as const;

/** The sentences of the settings themselves. */
export const settingsMessages = {
	downloadSettings: 'Download Settings',
	previewSettings: 'Preview Settings',
	askBeforeDownload: 'Ask before download',
	askBeforeDownloadHint: 'Shows what will be downloaded, and how much, before it starts.',
	enablePreview: 'Enable preview',
	enablePreviewHint: 'Opening a file shows it in the page where that is possible.',
	saveChanges: 'Save Changes',
	saving: 'Saving...',
	settingsSaved: 'Settings saved successfully!',
	updateSettingsFailed: 'Failed to update settings',
	saveSettingsFailed: 'Failed to save settings',
} as const;
