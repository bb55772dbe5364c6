/** The sentences of versions, of which the page of a share has none. */
export const versionsMessages = {
	versions: 'Versions',
	versionsLoading: 'Loading the versions',
	versionsFailed: 'The versions could not be loaded',
	noVersions: 'There are no versions of this file',
	noVersionsHint: 'What a file has had before it was replaced or edited is kept here for a while.',
	versionsKept: (keptFor: string) =>
		`What the file had before it was replaced is kept for ${keptFor}, or until its space is needed.`,
	replacedAt: (time: string) => `replaced ${time}`,
	replacedBy: (username: string) => `by ${username}`,
	deleteVersionFailed: 'The version could not be deleted',
	deleteVersionQuestion: (time: string) => `Delete the version of ${time} forever? This cannot be undone.`,
};
