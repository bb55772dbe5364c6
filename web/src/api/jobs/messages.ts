/** Why jobs wait, and originals of conversions are kept. */
export const jobMessages = {
	keptFor: (reason: string) => `The original was kept. ${reason.replace(/\.$/, '')}`,
	keptForLosses: (losses: readonly string[]) => `The original was kept, since the new file lacks ${losses.join(', ')}`,
	originalKept: 'The conversion deleted nothing, since the original was changed, moved or deleted meanwhile',
	/** Why a job waits, and until when at least. */
	heldUntil: (reason: string, date: string, time: string) => `${reason} By itself not before ${date} at ${time}.`,
} as const;
