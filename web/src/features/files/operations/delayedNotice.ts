import type { Notice } from '../../../ui/notifications/notifications.js';
import type { Notify } from '../../../ui/notifications/useNotify.js';

/** Work that ends sooner is done without a notice. */
const noticeDelayMs = 400;

export interface DelayedNotice {
	/** Shows this from now on, or as soon as the delay is over. */
	show: (notice: Omit<Notice, 'key'>) => void;
	/** Removes it; nothing is shown any more. */
	end: () => void;
}

/** The notice of one piece of work, which several may have at the same time: each has a key of its own. */
export function delayedNotice({ notify, dismiss }: Notify): DelayedNotice {
	let state: 'waiting' | 'shown' | 'ended' = 'waiting';
	let latest: Notice | undefined;
	let key: string | undefined;
	const render = () => {
		if (state === 'shown' && latest) key = notify(key === undefined ? latest : { ...latest, key });
	};
	const timer = setTimeout(() => {
		state = 'shown';
		render();
	}, noticeDelayMs);
	return {
		show(notice) {
			latest = notice;
			render();
		},
		end() {
			state = 'ended';
			clearTimeout(timer);
			if (key !== undefined) dismiss(key);
		},
	};
}
