import { type PointerEvent as ReactPointerEvent, useEffect, useMemo, useRef } from 'react';
import { useLatest } from '../../../ui/useLatest.js';
import type { Point } from '../selection/marquee.js';

const longPressMs = 500;
/** How far the finger may move during a long press, in pixels. */
const moveTolerance = 10;

export interface LongPress {
	handlers: {
		onPointerDown: (event: ReactPointerEvent<HTMLElement>) => void;
		onPointerMove: (event: ReactPointerEvent<HTMLElement>) => void;
		onPointerUp: () => void;
		onPointerCancel: () => void;
	};
	/** Whether the current click ends a long press. */
	suppressesClick: () => boolean;
}

/** Calls back after a long press. Scrolling cancels the pointer and with it the press. */
export function useLongPress(onPress: (target: Element, at: Point) => void): LongPress {
	const latest = useLatest(onPress);
	const press = useRef<{ timer: ReturnType<typeof setTimeout>; at: Point } | undefined>(undefined);
	const hasPressed = useRef(false);
	useEffect(() => () => clearTimeout(press.current?.timer), []);

	return useMemo(() => {
		const cancel = () => {
			clearTimeout(press.current?.timer);
			press.current = undefined;
		};
		return {
			handlers: {
				onPointerDown(event) {
					cancel();
					hasPressed.current = false;
					const { target, clientX: x, clientY: y } = event;
					if (event.pointerType !== 'touch' || !event.isPrimary || !(target instanceof Element)) return;
					const timer = setTimeout(() => {
						press.current = undefined;
						hasPressed.current = true;
						latest.current(target, { x, y });
					}, longPressMs);
					press.current = { timer, at: { x, y } };
				},
				onPointerMove(event) {
					const at = press.current?.at;
					if (at && Math.hypot(event.clientX - at.x, event.clientY - at.y) > moveTolerance) cancel();
				},
				onPointerUp: cancel,
				onPointerCancel: cancel,
			},
			suppressesClick: () => hasPressed.current,
		};
	}, []);
}
