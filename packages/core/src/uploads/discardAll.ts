import type { StagedFile } from '@stowage/plugin-api';

/** Discards what an upload that failed has staged. What can't be discarded now is swept later: the caller is to hear why the upload failed. */
export async function discardAll(received: readonly { staged: StagedFile }[]): Promise<void> {
	await Promise.allSettled(received.map(({ staged }) => staged.discard()));
}
