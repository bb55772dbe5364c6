import { shownName } from '@stowage/rules';
import { useLayoutEffect, useRef } from 'react';
import { useFrame } from '../../ui/frame.js';
import { useNotify } from '../../ui/notifications/useNotify.js';
import { linkMessages as messages } from './messages.js';

/**
 * Returns what to call with a link once it is made. If its dialog was closed meanwhile nobody sees the link: `undo` ends one that is shown
 * nowhere else. One that works all the same is announced by a notice, which opens the list from which it can be ended.
 */
export function useMadeLink<T>(
	isOpen: boolean,
	nameOf: (made: T) => string,
	onMade: (made: T) => void,
	undo?: (made: T) => Promise<void>,
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
	const announce = (made: T) =>
		notify({
			intent: 'warning',
			message: messages.madeAllTheSame(shownName(nameOf(made))),
			detail: messages.endUnderMyLinks,
			action: { text: messages.myLinks, onClick: openLinks },
			hidesAfter: noticeMs,
		});
	return (made) => {
		if (isShown.current) onMade(made);
		else if (undo === undefined) announce(made);
		else undo(made).catch(() => announce(made));
	};
}

const noticeMs = 10_000;
