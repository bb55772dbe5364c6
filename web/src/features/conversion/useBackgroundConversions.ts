import { conversionDetail } from '@stowage/contract';
import { type Area, isFailure } from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import type { Job } from '../../api/jobs/jobs.js';
import { waitForJob } from '../../api/jobs/waitForJob.js';
import { useFrame } from '../../ui/frame.js';
import { useNotify } from '../../ui/notifications/useNotify.js';
import { backgroundNotice } from './backgroundNotice.js';
import { conversionMessages as messages } from './messages.js';

/** Conversions that go on after their dialog. */
export interface LeftConversions {
	ids: readonly string[];
	/** Who was signed in when they were begun. */
	username: string | null | undefined;
}

/**
 * Polls conversions whose dialog was closed. `onConverted` is called with each new file, and a notice shows the
 * results when all have ended, unless their user is not signed in any more.
 */
export function useBackgroundConversions(
	onConverted: (area: Area, outputPaths: readonly string[]) => void,
): (area: Area, left: LeftConversions) => Promise<void> {
	const queryClient = useQueryClient();
	const { notify } = useNotify();
	const { openActivity } = useFrame();

	return useCallback(
		async (area, { ids, username }) => {
			const ended: Job[] = [];
			let unknown = 0;
			// In the order in which they run.
			for (const id of ids) {
				try {
					const job = await waitForJob(queryClient, id, { username });
					ended.push(job);
					const { outputPath } = conversionDetail.parse(job.detail ?? {});
					if (job.status === 'completed' && typeof outputPath === 'string') onConverted(area, [outputPath]);
				} catch (error) {
					// Its user is not signed in, who could be notified.
					if (isFailure(error, 'notSignedIn')) return;
					if (!isFailure(error, 'notFound')) throw error;
					unknown++;
				}
			}
			const notice = backgroundNotice({ ended, unknown });
			if (!notice) return;
			const isToSee = notice.intent === 'danger' || notice.intent === 'warning';
			notify({ ...notice, ...(isToSee && { action: { text: messages.activity, onClick: openActivity } }) });
		},
		[queryClient, notify, openActivity, onConverted],
	);
}
