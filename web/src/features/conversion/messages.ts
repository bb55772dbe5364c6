import { type ConversionFormat, plural } from '@stowage/rules';

/** The sentences of converting videos. */
export const conversionMessages = {
	convert: (videos: number) => `Convert ${plural(videos, 'Video')}`,
	conversion: 'Video Conversion',
	states: {
		setup: 'Setup',
		starting: 'Starting',
		queued: 'Queued',
		processing: 'Processing',
		completed: 'Completed',
		failed: 'Failed',
		cancelled: 'Cancelled',
	},
	cancelling: 'Cancelling',

	format: 'Format',
	formats: {
		mp4: { name: 'MP4', hint: 'H.264, most compatible' },
		mkv: { name: 'MKV', hint: 'H.264, subtitle support' },
		webm: { name: 'WebM', hint: 'VP9, smaller; drops subtitles' },
	} satisfies Record<ConversionFormat, { name: string; hint: string }>,
	quality: 'Quality',
	deleteOriginal: 'Delete original file after conversion',
	deleteOriginalHint: 'Only once the new file is complete and has been checked.',
	outputName: 'Output name',
	becomes: 'becomes',
	moreFiles: (files: number) => `... and ${plural(files, 'more file', 'more files')}`,

	start: 'Start Conversion',
	starting: 'Starting...',
	startOthers: 'Try Again',
	continueInBackground: 'Continue in background',
	cancelConversions: 'Cancel Conversions',
	cancelQuestion: 'Conversions are in progress. Are you sure you want to cancel?',
	continue: 'Continue',
	cancel: 'Cancel',
	close: 'Close',

	conversions: 'Conversions',
	ended: (ended: number, total: number) => `${ended} of ${plural(total, 'video')} done`,
	fps: (fps: string) => `${fps} fps`,
	averageFps: (fps: string) => `${fps} fps on average`,
	eta: (eta: string) => `ETA ${eta}`,
	waiting: 'Waits for its turn',
	preparing: 'Preparing',
	checking: 'Checking',
	savedAs: (name: string) => `Saved as ${name}`,
	sizes: (before: string, after: string) => `${before} → ${after}`,

	completed: 'All conversions completed successfully! The converted files have been saved.',
	failed: 'Some conversions failed. Check individual file status below.',
	cancelled: 'Conversions were cancelled.',

	required: 'HandBrake CLI is required for video conversion. Please install it and restart the server.',
	unavailable: 'HandBrake CLI is not available',
	noVideos: 'No video files to convert',
	someNotStarted: 'Some conversions failed to start:',
	notStarted: 'Error starting conversion',
	startFailed: 'Error starting video conversions',
	mayBeQueued: 'What got no answer may be queued all the same. Activity lists what is.',
	cancelFailed: 'Error cancelling conversions',
	activity: 'Activity',
	backgroundFailed: (title: string) => `${title}: failed`,
	failedOf: (failed: number, total: number) => `${failed} of ${total} conversions failed`,
	completedOf: (completed: number, total: number) => `${completed} of ${total} conversions completed`,
	/** One line of several: which conversion it is about. */
	about: (title: string, reason: string) => `${title}: ${reason}`,
	/** How those have ended that the message before does not count. */
	counts: ({
		failed,
		completed,
		cancelled,
		unknown,
	}: Record<'failed' | 'completed' | 'cancelled' | 'unknown', number>) =>
		[
			...(failed > 0 && completed > 0 ? [`${completed} completed.`] : []),
			...(cancelled > 0 ? [`${cancelled} cancelled.`] : []),
			...(unknown > 0 ? [`${unknown} no longer known to the server.`] : []),
		].join(' '),
	originalsKept: (originals: number) => `${originals} originals were kept.`,
	unknown: 'The server no longer knows this conversion.',
	allUnknown: 'The server no longer knows these conversions.',

	refreshFailed: 'Failed to refresh directory after 4 attempts. Please refresh manually.',
} as const;
