import { baseName, formatListSize, parsePath, shownName } from '@stowage/rules';
import { holdText, keptReason } from '../../api/jobs/jobReasons.js';
import type { Conversion } from './conversionState.js';
import { conversionMessages as messages } from './messages.js';

/** The text beside its name: how far it is while it runs, else its state. */
export function statusOf({ status, progress, isCancelling }: Conversion): string {
	if (isCancelling) return messages.cancelling;
	return status === 'processing' ? `${Math.floor(progress)}%` : messages.states[status];
}

/** The value of its bar, 0 to 1. One that failed or was cancelled at the very end has no file all the same. */
export function barOf({ status, progress }: Conversion): number {
	if (status === 'completed') return 1;
	const hasEnded = status === 'failed' || status === 'cancelled';
	return hasEnded && progress >= 100 ? 0 : progress / 100;
}

/** The text below the bar of a conversion. */
export function detailOf(conversion: Conversion): string | null {
	const { status, phase, currentFps, averageFps, eta, outputPath, sizeBefore, sizeAfter } = conversion;
	switch (status) {
		case 'queued':
			return shownName(holdText(conversion) ?? messages.waiting);
		case 'processing': {
			if (phase === 'checking') return messages.checking;
			const parts = [
				...(currentFps === null ? [] : [messages.fps(currentFps.toFixed(1))]),
				...(averageFps === null ? [] : [messages.averageFps(averageFps.toFixed(1))]),
				...(eta === null ? [] : [messages.eta(eta)]),
			];
			return parts.length === 0 ? messages.preparing : parts.join(' · ');
		}
		case 'completed': {
			const kept = keptReason(conversion);
			const hasSizes = sizeBefore !== null && sizeAfter !== null;
			return [
				...(outputPath === null ? [] : [messages.savedAs(shownName(baseName(parsePath(outputPath))))]),
				...(hasSizes ? [messages.sizes(formatListSize(sizeBefore), formatListSize(sizeAfter))] : []),
				...(kept === undefined ? [] : [kept]),
			].join(' · ');
		}
		default:
			return conversion.error && shownName(conversion.error);
	}
}
