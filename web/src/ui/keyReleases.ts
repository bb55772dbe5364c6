/**
 * Makes Enter and Space press only what they were pressed on. Blueprint's buttons act when the key is let go, so one that
 * got the focus in between, from a dialog that this very key closed, would be pressed as well.
 */
export function holdKeyReleases(): void {
	let pressedOn: EventTarget | null = null;
	window.addEventListener(
		'keydown',
		(event) => {
			// A key that is held is not pressed again on what has the focus by now.
			if (!event.repeat) pressedOn = event.target;
		},
		{ capture: true },
	);
	window.addEventListener(
		'keyup',
		(event) => {
			if ((event.key === 'Enter' || event.key === ' ') && event.target !== pressedOn) event.stopPropagation();
		},
		{ capture: true },
	);
}
