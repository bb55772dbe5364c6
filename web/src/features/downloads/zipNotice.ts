import {
	bytesPerSecond,
	formatDownloadSize,
	formatDuration,
	formatSpeed,
	measureSpeed,
	remainingSeconds,
	type SpeedMeter,
} from '@stowage/rules';
import type { TicketEvent } from '../../api/events/ticketEvents.js';
import type { Notice } from '../../ui/notifications/notifications.js';
import { downloadMessages as messages } from './messages.js';

/** The progress of a download, from the events of its ticket. */
export interface ZipProgress {
	sent: number;
	meter: SpeedMeter | undefined;
	state: TicketEvent['state'];
}

export const noProgress: ZipProgress = { sent: 0, meter: undefined, state: 'waiting' };

/** `at` is the time of the event in milliseconds. */
export function applyTicketEvent({ meter }: ZipProgress, { sent, state }: TicketEvent, at: number): ZipProgress {
	// A new measurement begins with each period of sending.
	return { sent, state, meter: state === 'sending' ? measureSpeed(meter, at, sent) : undefined };
}

/** The notice for the notification bar. */
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
