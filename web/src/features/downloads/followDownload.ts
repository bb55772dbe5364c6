import { type DownloadTicket, endTicket } from '../../api/downloads.js';
import { followTicket } from '../../api/events/ticketEvents.js';
import type { Notify } from '../../ui/notifications/useNotify.js';
import { downloadMessages as messages } from './messages.js';
import { afterNews, noProgress, zipNotice } from './zipNotice.js';

/** Without news for so long the bar gives way; the browser's own list still shows the download. */
const quietMilliseconds = 30_000;

/** Shows in the bar how much of a ticket's download was sent, with `Cancel`, until all of it was or it has ended. */
export function followDownload(ticket: DownloadTicket, { notify, dismiss }: Notify): void {
	const key = `download ${ticket.ticket}`;
	let progress = noProgress;
	let timer: ReturnType<typeof setTimeout>;
	let isCancelled = false;

	const show = () => {
		notify({ ...zipNotice(ticket.fileName, ticket.size, progress), key, onCancel: () => void cancel() });
		clearTimeout(timer);
		timer = setTimeout(hide, quietMilliseconds);
	};
	const hide = () => {
		// A hidden page hears nothing at all.
		if (document.visibilityState === 'visible') dismiss(key);
		else timer = setTimeout(hide, quietMilliseconds);
	};
	const end = () => {
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
	const unfollow = followTicket(ticket.ticket, (news) => {
		if (isCancelled) return;
		progress = afterNews(progress, news, performance.now());
		if (news.state === 'done') {
			end();
			notify({ key, intent: 'success', message: messages.downloaded(ticket.fileName) });
		} else if (news.state === 'ended') {
			end();
			dismiss(key);
		} else show();
	});
	show();
}
