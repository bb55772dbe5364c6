import { type UIEvent, useCallback, useRef } from 'react';

/** Screens per millisecond above which rows scroll by unreadably. */
const fastScroll = 2 / 1000;

/** Calls back while the list scrolls faster than anybody can read. Returns the handler of its scroll event. */
export function useFastScroll(onFastScroll: () => void): (event: UIEvent<HTMLElement>) => void {
	const last = useRef({ top: 0, time: 0 });
	return useCallback(
		({ currentTarget: { scrollTop, clientHeight }, timeStamp }) => {
			const { top, time } = last.current;
			last.current = { top: scrollTop, time: timeStamp };
			const screens = Math.abs(scrollTop - top) / Math.max(1, clientHeight);
			if (screens / Math.max(1, timeStamp - time) > fastScroll) onFastScroll();
		},
		[onFastScroll],
	);
}
