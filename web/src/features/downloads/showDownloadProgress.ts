import { type DownloadTicket, endTicket } from '../../api/downloads.js';
import { isStreaming } from '../../api/events/eventStream.js';
import { subscribeToTicket } from '../../api/events/ticketEvents.js';
import { followTickets } from '../../api/events/ticketStream.js';
import type { FileSource } from '../../api/sources/FileSource.js';
import type { Notify } from '../../ui/notifications/useNotify.js';
import { downloadMessages as messages } from './messages.js';
import { applyTicketEvent, noProgress, zipNotice } from './zipNotice.js';

/** After so long without an event the notice is hidden; the browser's own list still shows the download. */
const hideAfterMs = 30_000;

/** Whoever went away during a long download finds it, and can close it. */
const incompleteMs = 60 * 60_000;

/** Shows in the notification bar how much of a ticket's download was sent, with `Cancel`, until it has ended. */
export function showDownloadProgress(
	ticket: DownloadTicket,
	{ notify, dismiss }: Notify,
	{ ticketEvents }: Pick<FileSource, 'ticketEvents'>,
): void {
	const key = `download ${ticket.ticket}`;
	let progress = noProgress;
	let timer: ReturnType<typeof setTimeout>;
	let isCancelled = false;

	const show = () => {
		notify({ ...zipNotice(ticket.fileName, ticket.size, progress), key, onCancel: () => void cancel() });
		clearTimeout(timer);
		timer = setTimeout(hide, hideAfterMs);
	};
	const hide = () => {
		// A hidden page gets no events.
		if (document.visibilityState === 'visible') {
			dismiss(key);
			unfollowUnlessStreaming();
		} else timer = setTimeout(hide, hideAfterMs);
	};
	const unfollowUnlessStreaming = () => {
		// Of a share that has ended there will be none any more.
		if (!isStreaming()) unfollow();
	};
	const end = () => {
		unsubscribe();
		unfollow();
		clearTimeout(timer);
	};
	const cancel = async () => {
		isCancelled = true;
		try {
			await endTicket(ticket);
			end();
			notify({ key, message: messages.cancelled });
		} catch (error) {
			isCancelled = false;
			notify({
				intent: 'danger',
				message: messages.cancelFailed,
				...(error instanceof Error ? { detail: error.message } : {}),
			});
		}
	};
	const unsubscribe = subscribeToTicket(ticket.ticket, (event) => {
		if (isCancelled) return;
		progress = applyTicketEvent(progress, event, performance.now());
		if (event.state === 'done') {
			end();
			notify({ key, intent: 'success', message: messages.downloaded(ticket.fileName) });
		} else if (event.state === 'ended') {
			end();
			dismiss(key);
		} else if (event.state === 'changed') {
			// Followed on: the browser gets all anew if it is asked to resume.
			clearTimeout(timer);
			timer = setTimeout(unfollowUnlessStreaming, hideAfterMs);
			const { incomplete, changedMeanwhile } = messages;
			notify({
				key,
				intent: 'danger',
				message: incomplete(ticket.fileName),
				detail: changedMeanwhile,
				hidesAfter: incompleteMs,
			});
		} else show();
	});
	const unfollow = ticketEvents === undefined ? () => {} : followTickets(ticketEvents);
	show();
}
