import { shownName } from '@stowage/rules';
import { useLayoutEffect, useRef } from 'react';
import { useFrame } from '../../ui/frame.js';
import { useNotify } from '../../ui/notifications/useNotify.js';
import { linkMessages as messages } from './messages.js';

/**
 * Returns what to call with a link once it is made. If its dialog was closed meanwhile nobody sees the link, which works all the same: a
 * notice says so, and opens the list from which it can be ended.
 */
export function useMadeLink<T>(
	isOpen: boolean,
	nameOf: (made: T) => string,
	onMade: (made: T) => void,
): (made: T) => void {
	const { openLinks } = useFrame();
	const { notify } = useNotify();
	const isShown = useRef(false);
	useLayoutEffect(() => {
		isShown.current = isOpen;
		return () => {
			isShown.current = false;
		};
	}, [isOpen]);
	return (made) => {
		if (isShown.current) return onMade(made);
		notify({
			intent: 'warning',
			message: messages.madeAllTheSame(shownName(nameOf(made))),
			detail: messages.endUnderMyLinks,
			action: { text: messages.myLinks, onClick: openLinks },
			hidesAfter: noticeMs,
		});
	};
}

const noticeMs = 10_000;
