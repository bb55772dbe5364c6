import { baseName, formatListSize, parsePath } from '@stowage/rules';
import type { Conversion } from './conversionState.js';
import { conversionMessages as messages } from './messages.js';

export function percentOf({ progress }: Conversion): string {
	return `${Math.floor(progress)}%`;
}

/** The text below the bar of a conversion. */
export function detailOf(conversion: Conversion): string | null {
	const { status, currentFps, averageFps, eta, outputPath, sizeBefore, sizeAfter } = conversion;
	switch (status) {
		case 'queued':
			return messages.waiting;
		case 'processing': {
			const parts = [
				...(currentFps === null ? [] : [messages.fps(currentFps.toFixed(1))]),
				...(averageFps === null ? [] : [messages.averageFps(averageFps.toFixed(1))]),
				...(eta === null ? [] : [messages.eta(eta)]),
			];
			return parts.length === 0 ? messages.preparing : parts.join(' · ');
		}
		case 'completed': {
			const hasSizes = sizeBefore !== null && sizeAfter !== null;
			return [
				...(outputPath === null ? [] : [messages.savedAs(baseName(parsePath(outputPath)))]),
				...(hasSizes ? [messages.sizes(formatListSize(sizeBefore), formatListSize(sizeAfter))] : []),
				...(conversion.deletesOriginal && conversion.isOriginalDeleted === false ? [messages.originalKept] : []),
			].join(' · ');
		}
		default:
			return conversion.error;
	}
}
