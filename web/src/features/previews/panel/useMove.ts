import {
	type KeyboardEvent as ReactKeyboardEvent,
	type PointerEvent as ReactPointerEvent,
	type RefObject,
	useCallback,
	useEffect,
	useRef,
	useState,
} from 'react';

interface Offset {
	x: number;
	y: number;
}

/** How far an arrow key moves it, and with Shift. */
const step = 16;
const bigStep = 64;

const arrows: Readonly<Record<string, Offset>> = {
	ArrowLeft: { x: -1, y: 0 },
	ArrowRight: { x: 1, y: 0 },
	ArrowUp: { x: 0, y: -1 },
	ArrowDown: { x: 0, y: 1 },
};

/** Moves a panel by its header, or by the arrow keys on a handle in that. All of it stays on the screen. */
export function useMove(header: RefObject<HTMLElement | null>) {
	const [offset, setOffset] = useState<Offset>({ x: 0, y: 0 });
	const drag = useRef<{ pointer: number; from: Offset; start: Offset }>(undefined);

	const moveTo = useCallback(
		(wanted: (now: Offset) => Offset) => {
			const element = header.current?.parentElement;
			if (!element) return;
			setOffset((now) => {
				const { x, y } = wanted(now);
				// Where it would lie without any offset. Not by its rectangle, which its coming and going transforms.
				const left = element.offsetLeft - now.x;
				const top = element.offsetTop - now.y;
				return {
					x: within(x, -left, window.innerWidth - element.offsetWidth - left),
					y: within(y, -top, window.innerHeight - element.offsetHeight - top),
				};
			});
		},
		[header],
	);

	useEffect(() => {
		const stay = () => moveTo((now) => now);
		window.addEventListener('resize', stay);
		return () => window.removeEventListener('resize', stay);
	}, [moveTo]);

	return {
		style: { left: offset.x, top: offset.y },
		/** Handlers of the header. */
		header: {
			onPointerDown(event: ReactPointerEvent<HTMLElement>) {
				const isControl = (event.target as Element).closest('a, button:not([data-handle])') !== null;
				if (event.button !== 0 || isControl) return;
				event.currentTarget.setPointerCapture(event.pointerId);
				drag.current = {
					pointer: event.pointerId,
					from: { x: event.clientX, y: event.clientY },
					start: offset,
				};
			},
			onPointerMove({ pointerId, clientX, clientY }: ReactPointerEvent) {
				const { current } = drag;
				if (current?.pointer !== pointerId) return;
				const { start, from } = current;
				moveTo(() => ({ x: start.x + clientX - from.x, y: start.y + clientY - from.y }));
			},
			onLostPointerCapture() {
				drag.current = undefined;
			},
		},
		/** Handlers of the handle, which the keyboard reaches. */
		handle: {
			onKeyDown(event: ReactKeyboardEvent) {
				const by = arrows[event.key];
				if (!by) return;
				event.preventDefault();
				// Arrow keys mean something else to the viewers.
				event.stopPropagation();
				const length = event.shiftKey ? bigStep : step;
				moveTo(({ x, y }) => ({ x: x + by.x * length, y: y + by.y * length }));
			},
		},
	};
}

function within(value: number, min: number, max: number): number {
	// A panel that is as large as the window, or larger, has nowhere to go.
	return max <= min ? 0 : Math.min(Math.max(value, min), max);
}
