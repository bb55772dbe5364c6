import { type Dispatch, type RefObject, type SetStateAction, useEffect } from 'react';
import { useLatest } from '../../../ui/useLatest.js';
import { fitted, type ImageView, type Pinch, type Point, panBy, pinchTo, wheelStep, zoomTo } from './imageView.js';

export interface GesturesOptions {
	/** The element that receives them; null while there is none. */
	stage: HTMLElement | null;
	picture: RefObject<HTMLElement | null>;
	view: ImageView;
	setView: Dispatch<SetStateAction<ImageView>>;
	/** A finger went across a picture that is not enlarged. */
	onSwipe: (direction: 'left' | 'right') => void;
}

/** A touchpad sends many small wheel events instead of one. */
const wheelNotch = 40;
const swipeLength = 60;
const doubleTapMs = 300;
const doubleTapReach = 30;

/** Wheel, drag, pinch, swipe, double click and double tap on a picture. */
export function useGestures(options: GesturesOptions): void {
	const latest = useLatest(options);
	const { stage: target } = options;

	useEffect(() => {
		if (!target) return;
		const pointers = new Map<number, Point>();
		let pinch: Pinch | undefined;
		let turned = 0;
		let swiped: Point | undefined;
		let tapped = { at: 0, x: 0, y: 0 };

		const fromMiddle = ({ x, y }: Point): Point => {
			const box = target.getBoundingClientRect();
			return { x: x - box.left - box.width / 2, y: y - box.top - box.height / 2 };
		};
		const setView = (change: (view: ImageView) => ImageView) => latest.current.setView(change);
		const pan = (by: Point) => {
			const drawn = drawnSize(latest.current.picture);
			setView((view) => panBy(view, by, drawn));
		};
		const toggle = (at: Point) =>
			setView((view) => (view.zoom === 1 ? zoomTo(view, 2, at) : { ...fitted, rotation: view.rotation }));

		const onWheel = (event: WheelEvent) => {
			event.preventDefault();
			turned += event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : event.deltaY * wheelNotch;
			if (Math.abs(turned) < wheelNotch) return;
			const step = turned < 0 ? wheelStep : -wheelStep;
			turned = 0;
			const at = fromMiddle({ x: event.clientX, y: event.clientY });
			setView((view) => zoomTo(view, view.zoom + step, at));
		};
		/** The first two fingers; undefined for one. */
		const pair = () => {
			const [one, other] = pointers.values();
			return one && other && { distance: distance(one, other), middle: between(one, other) };
		};
		const beginPinch = () => {
			const fingers = pair();
			pinch = fingers && { view: latest.current.view, distance: fingers.distance };
		};
		const isControl = (event: Event) => (event.target as Element).closest('button') !== null;
		const onDown = (event: PointerEvent) => {
			if (event.button !== 0 || isControl(event)) return;
			target.setPointerCapture(event.pointerId);
			pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
			beginPinch();
			swiped =
				event.pointerType === 'touch' && pointers.size === 1 ? { x: event.clientX, y: event.clientY } : undefined;
		};
		const onMove = (event: PointerEvent) => {
			const before = pointers.get(event.pointerId);
			if (!before) return;
			const now = { x: event.clientX, y: event.clientY };
			pointers.set(event.pointerId, now);
			const fingers = pair();
			if (!fingers || !pinch) return pan({ x: now.x - before.x, y: now.y - before.y });
			const view = pinchTo(pinch, fingers.distance, fromMiddle(fingers.middle));
			setView(() => view);
		};
		const onUp = (event: PointerEvent) => {
			if (!pointers.delete(event.pointerId)) return;
			beginPinch();
			if (event.type !== 'pointerup' || !swiped) return;
			const by = { x: event.clientX - swiped.x, y: event.clientY - swiped.y };
			swiped = undefined;
			const isSwipe = Math.abs(by.x) > swipeLength && Math.abs(by.x) > 2 * Math.abs(by.y);
			if (isSwipe && latest.current.view.zoom <= 1) return latest.current.onSwipe(by.x < 0 ? 'left' : 'right');
			if (Math.hypot(by.x, by.y) > 10) return;
			const isSecond =
				event.timeStamp - tapped.at < doubleTapMs &&
				distance(tapped, { x: event.clientX, y: event.clientY }) < doubleTapReach;
			tapped = { at: isSecond ? 0 : event.timeStamp, x: event.clientX, y: event.clientY };
			if (isSecond) toggle(fromMiddle({ x: event.clientX, y: event.clientY }));
		};
		const onDoubleClick = (event: MouseEvent) => {
			// A finger's has been seen by its taps.
			if (isControl(event) || (event as PointerEvent).pointerType === 'touch' || tapped.at !== 0) return;
			toggle(fromMiddle({ x: event.clientX, y: event.clientY }));
		};

		target.addEventListener('wheel', onWheel, { passive: false });
		target.addEventListener('pointerdown', onDown);
		target.addEventListener('pointermove', onMove);
		target.addEventListener('pointerup', onUp);
		target.addEventListener('pointercancel', onUp);
		target.addEventListener('dblclick', onDoubleClick);
		return () => {
			target.removeEventListener('wheel', onWheel);
			target.removeEventListener('pointerdown', onDown);
			target.removeEventListener('pointermove', onMove);
			target.removeEventListener('pointerup', onUp);
			target.removeEventListener('pointercancel', onUp);
			target.removeEventListener('dblclick', onDoubleClick);
		};
	}, [target]);
}

/** The size of a picture that is not enlarged. */
export function drawnSize({ current }: RefObject<HTMLElement | null>): { width: number; height: number } {
	return { width: current?.offsetWidth ?? 0, height: current?.offsetHeight ?? 0 };
}

function between(a: Point, b: Point): Point {
	return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
}

function distance(a: Point, b: Point): number {
	return Math.hypot(a.x - b.x, a.y - b.y);
}
