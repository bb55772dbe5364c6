import { Classes } from '@blueprintjs/core';

/** A control that was disabled or removed, and the dialog that has the focus in its place. */
let standIn: { control: HTMLElement; dialog: HTMLElement } | undefined;

/** Whether nothing has the focus, or only a dialog in place of what had it. */
export function isFocusLost(): boolean {
	const { activeElement } = document;
	return !activeElement || activeElement === document.body || activeElement === standIn?.dialog;
}

/** Moves the focus to the list of files, or else to the page's content, unless something outside of dialogs has it. */
export function focusPage(): void {
	// A closing dialog keeps the focus if what had it before is gone.
	if (isFocusLost() || document.activeElement?.closest('[role="dialog"]')) focusContent();
}

function focusContent(): void {
	const target = document.querySelector<HTMLElement>('[role="grid"]') ?? document.getElementById('content');
	target?.focus({ preventScroll: true });
}

/** How long what removes an element may take to move the focus itself. */
const graceMilliseconds = 100;

/**
 * Keeps the focus in the page when the element that has it is removed or disabled, such as a button that was pressed: it moves to
 * the list of files, or else to the page's content. Otherwise it would fall to the body, where the keys of the list do nothing. Of a
 * button that a dialog disables while its request runs the dialog has the focus meanwhile, so that Escape still closes it.
 */
export function keepFocus(): void {
	/** The element that had the focus last, unless somebody has left it by a press on nothing. */
	let last: Element | undefined;
	/** The dialog in which that is: of a removed element it can't be found any more. */
	let dialog: HTMLElement | null | undefined;
	let isWaiting = false;
	document.addEventListener('focusin', ({ target }) => {
		last = target instanceof Element ? target : undefined;
		dialog = last?.closest('[role="dialog"]')?.closest<HTMLElement>('[tabindex]');
		if (target !== standIn?.dialog) standIn = undefined;
	});
	// After the listener above, which is to hear of what this one focuses last.
	returnFromTraps();
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
		// A dialog that was removed with the control in it can't have the focus.
		if (dialog?.isConnected && last instanceof HTMLElement) {
			standIn = { control: last, dialog };
			dialog.focus({ preventScroll: true });
			return;
		}
		// A dialog or menu keeps the focus itself when something else is removed. When it is removed, this is called again.
		if (document.querySelector('[role="dialog"], [role="menu"]')) return;
		focusContent();
	};
	const restore = () => {
		if (!standIn || isLost(standIn.control) || document.activeElement !== standIn.dialog) return;
		standIn.control.focus({ preventScroll: true });
	};
	new MutationObserver(() => {
		restore();
		if (isWaiting || !last || !isLost(last)) return;
		isWaiting = true;
		setTimeout(rescue, graceMilliseconds);
	}).observe(document.body, { subtree: true, childList: true, attributeFilter: ['disabled'] });
}

/**
 * Gives the focus back to a control of a dialog that lost it to the edge of the dialog, by which Blueprint keeps the Tab key inside. Where
 * the machine draws late, the first field of a dialog that another one opens loses it so: Blueprint has the outer one take the focus back
 * from what was there before, and the inner one then takes it for its edge. The Tab key is led on to the control at the other end:
 * at the edge, and at what is around a dialog, nothing would be seen to have the focus.
 */
function returnFromTraps(): void {
	let control: HTMLElement | undefined;
	let tab: KeyboardEvent | undefined;
	document.addEventListener(
		'keydown',
		(event) => {
			tab = event.key === 'Tab' ? event : undefined;
			setTimeout(() => {
				tab = undefined;
			});
		},
		true,
	);
	document.addEventListener('focusin', ({ target, relatedTarget }) => {
		if (!(target instanceof HTMLElement)) return;
		const overlay = target.closest(`.${Classes.OVERLAY}`);
		const isEdge = target.classList.contains(Classes.OVERLAY_START_FOCUS_TRAP);
		// A menu, which has no other edge, does not keep the Tab key.
		const end = overlay?.querySelector(`.${Classes.OVERLAY_END_FOCUS_TRAP}`);
		// The key itself is not heard of then.
		const isFromFrame = target === end && !relatedTarget && overlay?.querySelector('iframe');
		const led = isFromFrame || (tab && end) ? overlay : undefined;
		if (led && (isEdge || isFromFrame || target.classList.contains(Classes.OVERLAY_CONTENT))) {
			const controls = [...led.querySelectorAll<HTMLElement>(`.${Classes.OVERLAY_CONTENT} :is(${tabStops})`)];
			const reached = controls.filter(
				(each) => (each.tabIndex >= 0 || each.isContentEditable) && each.getClientRects().length > 0,
			);
			reached.at(tab?.shiftKey ? -1 : 0)?.focus();
		} else if (!isEdge) {
			control = target;
		} else if (!tab && control && !isLost(control) && overlay?.contains(control)) {
			control.focus({ preventScroll: true });
		}
	});
}

/** What the Tab key may stop at: of radio buttons that is the chosen one. */
const tabStops =
	'a[href], iframe, summary, [tabindex], [contenteditable="true"], :enabled:not([type="radio"]:not(:checked))';

function isLost(element: Element): boolean {
	return !element.isConnected || element.matches(':disabled');
}
