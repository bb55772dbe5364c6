import { conversionDetail } from '@stowage/contract';
import { shownName } from '@stowage/rules';
import { keptReason } from '../../api/jobs/jobReasons.js';
import type { Job } from '../../api/jobs/jobs.js';
import { type Notice, reasonLines } from '../../ui/notifications/notifications.js';
import { conversionMessages as messages } from './messages.js';

/** How conversions that went on without their dialog have ended. */
export interface BackgroundOutcome {
	ended: readonly Pick<Job, 'status' | 'title' | 'error' | 'detail'>[];
	/** How many others the server no longer knows. */
	unknown: number;
}

/** The notice about all of them together. Undefined where there were none. */
export function backgroundNotice({ ended, unknown }: BackgroundOutcome): Notice | undefined {
	const total = ended.length + unknown;
	if (total === 0) return undefined;
	const completed = ended.filter(({ status }) => status === 'completed');
	const failed = ended.filter(({ status }) => status === 'failed');
	const counts = {
		completed: completed.length,
		failed: failed.length,
		cancelled: ended.length - completed.length - failed.length,
		unknown,
	};
	const kept = completed.flatMap(({ title, detail }) => {
		const reason = keptReason(conversionDetail.parse(detail ?? {}));
		return reason === undefined ? [] : [{ title, reason }];
	});
	const linesOf = (reasons: readonly { title: string; reason: string }[]) =>
		reasonLines(reasons.map(({ title, reason }) => (total === 1 ? reason : messages.about(shownName(title), reason))));
	const isMixed = Object.values(counts).every((count) => count < total);
	const detail = [
		linesOf(failed.flatMap(({ title, error }) => (error === null ? [] : [{ title, reason: error }]))),
		isMixed ? messages.counts(counts) : '',
		kept.length > 1 ? messages.originalsKept(kept.length) : '',
		linesOf(kept),
	].filter((part) => part !== '');
	return {
		...headline(counts, total, { title: ended[0]?.title ?? '', isKept: kept.length > 0 }),
		...(detail.length === 0 ? {} : { detail: detail.join('\n') }),
	};
}

type Counts = Record<'completed' | 'failed' | 'cancelled' | 'unknown', number>;

function headline(
	{ completed, failed, cancelled, unknown }: Counts,
	total: number,
	{ title, isKept }: { title: string; isKept: boolean },
): Pick<Notice, 'intent' | 'message'> {
	if (failed > 0) {
		const message = total === 1 ? messages.backgroundFailed(shownName(title)) : messages.failedOf(failed, total);
		return { intent: 'danger', message };
	}
	if (completed === total) return { intent: isKept ? 'warning' : 'success', message: messages.completed };
	if (cancelled === total) return { message: messages.cancelled };
	if (unknown === total) return { intent: 'warning', message: total === 1 ? messages.unknown : messages.allUnknown };
	return { intent: isKept || unknown > 0 ? 'warning' : 'none', message: messages.completedOf(completed, total) };
}
