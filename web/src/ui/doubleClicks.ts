/** What does something when it is clicked. Rows of the list are none of these: they know a double click themselves. */
const controls = 'a, button, summary, input, select, textarea, label, [role="menuitem"], [role="option"]';

/** The control that the first click of several has hit, as it was called then. */
interface Hit {
	control: Element | null;
	name: string;
}

/**
 * Lets the second click of a double click, and those after it, act only on what the first one was meant for. Otherwise
 * it would act on what the first one has brought under the pointer: the button of the next row, or the same button as
 * `Resume` that was `Pause` before. A control that stays what it is can be clicked as fast as one likes.
 */
export function holdDoubleClicks(): void {
	let first: Hit | undefined;
	window.addEventListener(
		'click',
		(event) => {
			// Those of scripts, and of Enter and Space, belong to no double click.
			if (!event.isTrusted || event.detail === 0) return;
			const hit = hitBy(event.target);
			if (event.detail === 1) first = hit;
			if (!hit.control || (hit.control === first?.control && hit.name === first.name)) return;
			event.preventDefault();
			event.stopImmediatePropagation();
		},
		{ capture: true },
	);
}

function hitBy(target: EventTarget | null): Hit {
	const found = target instanceof Element ? target.closest(controls) : null;
	const control = found instanceof HTMLLabelElement ? (found.control ?? found) : found;
	return { control, name: control?.ariaLabel ?? control?.textContent ?? '' };
}
