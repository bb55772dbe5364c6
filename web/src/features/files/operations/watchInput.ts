const inputs = ['pointerdown', 'keydown', 'wheel', 'touchmove'] as const;

const modifiers: ReadonlySet<string> = new Set(['Control', 'Meta', 'Shift', 'Alt']);

/** Begins to watch for presses, keys and scrolling. The returned function ends that, and says whether there were none. */
export function watchInput(): () => boolean {
	const controller = new AbortController();
	let isUntouched = true;
	const onInput = (event: Event) => {
		// A shortcut that began it may still be held.
		if (event instanceof KeyboardEvent && (event.repeat || modifiers.has(event.key))) return;
		isUntouched = false;
	};
	for (const type of inputs) {
		window.addEventListener(type, onInput, { capture: true, passive: true, signal: controller.signal });
	}
	return () => {
		controller.abort();
		return isUntouched;
	};
}
