/**
 * Lets Enter and Space activate only the element on which they were pressed. Blueprint's buttons act on keyup, so a button
 * that got the focus in between, from a dialog that this key closed, would be activated as well.
 */
export function holdKeyReleases(): void {
	let pressedOn: EventTarget | null = null;
	window.addEventListener(
		'keydown',
		(event) => {
			// The repeats of a held key do not count as presses on the element that has the focus by then.
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
