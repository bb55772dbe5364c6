import {
	bytesPerSecond,
	formatDownloadSize,
	formatDuration,
	formatSpeed,
	measureSpeed,
	remainingSeconds,
	type SpeedMeter,
} from '@stowage/rules';
import type { TicketNews } from '../../api/events/ticketEvents.js';
import type { Notice } from '../../ui/notifications/notifications.js';
import { downloadMessages as messages } from './messages.js';

/** How far a download is, measured from the news of its ticket. */
export interface ZipProgress {
	sent: number;
	meter: SpeedMeter | undefined;
	state: TicketNews['state'];
}

export const noProgress: ZipProgress = { sent: 0, meter: undefined, state: 'waiting' };

/** `at` is the time of the news in milliseconds. */
export function afterNews({ meter }: ZipProgress, { sent, state }: TicketNews, at: number): ZipProgress {
	// While nothing is sent there is no speed; a new measurement begins with the first byte.
	return { sent, state, meter: state === 'sending' ? measureSpeed(meter, at, sent) : undefined };
}

/** What the bar says of it. */
export function zipNotice(fileName: string, size: number, { sent, meter, state }: ZipProgress): Notice {
	const speed = bytesPerSecond(meter);
	const left = remainingSeconds(size - sent, speed);
	const detail =
		state === 'waiting' && sent === 0
			? messages.waiting
			: [
					messages.sentOf(formatDownloadSize(sent), formatDownloadSize(size)),
					...(speed === undefined ? [] : [formatSpeed(speed)]),
					...(left === undefined ? [] : [messages.timeLeft(formatDuration(left))]),
				]
					.map((part) => part.replaceAll(' ', '\u00A0'))
					.join(' · ');
	return { message: messages.downloading(fileName), detail, progress: size > 0 ? Math.min(1, sent / size) : 0 };
}
