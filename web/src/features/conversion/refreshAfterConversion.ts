/** How long each attempt waits for the new file. */
const delaysMs = [2000, 3000, 4000, 5000];

/** The pause after an attempt that failed. */
const retryWaitMs = 1000;

export interface RefreshOptions {
	/** Fetches the folder again; resolves to whether the new files are there. */
	refresh: () => Promise<boolean>;
	/** Called if none of the last attempts succeeded. */
	onFailed: (error: Error) => void;
	/** Rejects when it is aborted. */
	wait: (ms: number) => Promise<void>;
}

/** Fetches a folder again after a conversion, until the new files are there, at most four times. */
export async function refreshAfterConversion({ refresh, onFailed, wait }: RefreshOptions): Promise<void> {
	for (const [index, ms] of delaysMs.entries()) {
		await wait(ms);
		try {
			if (await refresh()) return;
		} catch (error) {
			if (index === delaysMs.length - 1) return onFailed(error instanceof Error ? error : new Error(String(error)));
			await wait(retryWaitMs);
		}
	}
}
