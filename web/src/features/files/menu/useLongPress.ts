import { type PointerEvent as ReactPointerEvent, useEffect, useMemo, useRef } from 'react';
import type { Point } from '../selection/rubberBand.js';

/** How long a finger rests until it means the menu, and how far it may tremble. */
const pressMilliseconds = 500;
const tremble = 10;

export interface LongPress {
	handlers: {
		onPointerDown: (event: ReactPointerEvent<HTMLElement>) => void;
		onPointerMove: (event: ReactPointerEvent<HTMLElement>) => void;
		onPointerUp: () => void;
		onPointerCancel: () => void;
	};
	/** Whether the click that comes now is only the finger that leaves. */
	endsPress: () => boolean;
}

/** Calls back once a finger has rested on a place. Scrolling cancels the pointer, and with it the press. */
export function useLongPress(onPress: (target: Element, at: Point) => void): LongPress {
	const latest = useRef(onPress);
	useEffect(() => {
		latest.current = onPress;
	});
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
					}, pressMilliseconds);
					press.current = { timer, at: { x, y } };
				},
				onPointerMove(event) {
					const at = press.current?.at;
					if (at && Math.hypot(event.clientX - at.x, event.clientY - at.y) > tremble) cancel();
				},
				onPointerUp: cancel,
				onPointerCancel: cancel,
			},
			endsPress: () => hasPressed.current,
		};
	}, []);
}
