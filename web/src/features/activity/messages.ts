/** The sentences of the Activity dialog. */
export const activityMessages = {
	activity: 'Activity',
	/** The name of the button in the header. */
	running: (jobs: number) => `Activity: ${jobs} running`,
	list: 'Jobs',
	states: {
		queued: 'Queued',
		processing: 'Processing',
		completed: 'Completed',
		failed: 'Failed',
		cancelled: 'Cancelled',
	},
	received: (files: string) => `Received ${files}`,
	receivedFrom: (sender: string, files: string) => `${sender} sent ${files}`,
	/** Who received it: a share of that name. */
	receivedBy: (share: string) => `By the share ${share}`,
	receivedState: 'Received',
	/** What a member of a shared folder did. */
	added: (items: string) => `added ${items}`,
	changedItems: (items: string) => `changed ${items}`,
	removed: (items: string) => `deleted ${items}`,
	inFolder: (folder: string) => `In ${folder}`,
	changedState: 'Changed',
	cancelling: 'Cancelling',
	changed: (title: string, state: string) => `${title}: ${state}`,
	checking: 'Checking',
	fps: (fps: string) => `${fps} fps`,
	sizes: (before: string, after: string) => `${before} → ${after}`,
	itemsFailed: (failed: number, items: string) => `${failed.toLocaleString('en-US')} of ${items} failed.`,
	endedAt: (date: string, time: string) => `${date} at ${time}`,
	byAdministrator: 'started by the administrator',
	cancel: 'Cancel',
	retry: 'Retry',
	cancelFailed: 'Error cancelling',
	retryFailed: 'Error retrying',
	none: 'Nothing is running',
	noneHint:
		'Copies, moves, conversions, what your shares receive and what others do in your folders show up here, from all your devices.',
	loadFailed: 'Error loading activity',
	loading: 'Loading activity',
} as const;
