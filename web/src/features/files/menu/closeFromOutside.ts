/** Moves the focus to the first item of a menu that can be chosen. */
export function focusFirst(box: HTMLElement): void {
	box.querySelector<HTMLElement>('[role="menuitem"]:not([aria-disabled="true"])')?.focus({ preventScroll: true });
}

/**
 * Closes the menu on a press, a scroll or a resize outside of it, until the returned function is called. The click of
 * that press does nothing else.
 */
export function closeFromOutside(box: HTMLElement, close: () => void): () => void {
	const controller = new AbortController();
	const { signal } = controller;
	const isInside = (event: Event) => event.target instanceof Node && box.contains(event.target);
	window.addEventListener(
		'pointerdown',
		(event) => {
			if (isInside(event)) return;
			if (event.button === 0) swallowClick();
			close();
		},
		{ capture: true, signal },
	);
	window.addEventListener(
		'wheel',
		(event) => {
			if (!isInside(event)) close();
		},
		{ capture: true, passive: true, signal },
	);
	// A dialog that fades out takes the focus from a menu that is open already; its keys still go to the menu.
	window.addEventListener(
		'keydown',
		(event) => {
			if (isInside(event) || event.ctrlKey || event.metaKey || event.altKey) return;
			event.preventDefault();
			event.stopPropagation();
			if (event.key === 'Escape' || event.key === 'Tab') close();
			else focusFirst(box);
		},
		{ capture: true, signal },
	);
	window.addEventListener('resize', close, { signal });
	window.addEventListener('blur', close, { signal });
	return () => controller.abort();
}

function swallowClick(): void {
	const swallow = (event: Event) => {
		event.stopPropagation();
		event.preventDefault();
	};
	window.addEventListener('click', swallow, { capture: true, once: true });
	// A press that becomes a drag or a scroll has no click; the next click must not be swallowed instead.
	const forget = () => setTimeout(() => window.removeEventListener('click', swallow, { capture: true }));
	window.addEventListener('pointerup', forget, { once: true });
	window.addEventListener('pointercancel', forget, { once: true });
}
