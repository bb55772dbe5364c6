/** How long what removes an element may take to move the focus itself. */
const graceMilliseconds = 100;

/**
 * Keeps the focus in the page when the element that has it is removed or disabled, such as a button that was pressed: it moves to
 * the list of files, or else to the page's content. Otherwise it would fall to the body, where the keys of the list do nothing.
 */
export function keepFocus(): void {
	/** The element that had the focus last, unless somebody has left it by a press on nothing. */
	let last: Element | undefined;
	let isWaiting = false;
	document.addEventListener('focusin', ({ target }) => {
		last = target instanceof Element ? target : undefined;
	});
	document.addEventListener('mousedown', () =>
		// The browser moves the focus after the handlers. A tap may have removed what it pressed by then.
		setTimeout(() => {
			if (document.activeElement === document.body && last && !isLost(last)) last = undefined;
		}),
	);
	const rescue = () => {
		isWaiting = false;
		if (!last || !isLost(last)) return;
		const { activeElement } = document;
		if (activeElement && activeElement !== document.body && activeElement !== last) return;
		// A dialog or menu keeps the focus itself. When it is removed, this is called again.
		if (document.querySelector('[role="dialog"], [role="menu"]')) return;
		const target = document.querySelector<HTMLElement>('[role="grid"]') ?? document.getElementById('content');
		target?.focus({ preventScroll: true });
	};
	new MutationObserver(() => {
		if (isWaiting || !last || !isLost(last)) return;
		isWaiting = true;
		setTimeout(rescue, graceMilliseconds);
	}).observe(document.body, { subtree: true, childList: true, attributeFilter: ['disabled'] });
}

function isLost(element: Element): boolean {
	return !element.isConnected || element.matches(':disabled');
}
