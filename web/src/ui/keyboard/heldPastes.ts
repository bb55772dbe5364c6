import { isEditable } from './isEditable.js';

/**
 * Lets Ctrl+V paste once for each press: a key that is held repeats it, and would paste the same files again and again.
 * Fields paste as often as the browser does.
 */
export function ignoreHeldPastes(): void {
	let isHeld = false;
	const listen = ({ repeat }: KeyboardEvent) => {
		isHeld = repeat;
	};
	window.addEventListener('keydown', listen, { capture: true });
	window.addEventListener('keyup', listen, { capture: true });
	window.addEventListener(
		'paste',
		(event) => {
			if (!isHeld || isEditable(event.target)) return;
			event.preventDefault();
			event.stopImmediatePropagation();
		},
		{ capture: true },
	);
}
