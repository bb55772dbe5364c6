/** Copies a text to the system's clipboard. `field` is an input on screen that has the text. Throws if the browser refuses both ways. */
export async function copyText(text: string, field?: HTMLInputElement): Promise<void> {
	if (navigator.clipboard && window.isSecureContext) {
		try {
			await navigator.clipboard.writeText(text);
			return;
		} catch {
			// Forbidden here, as in some frames; the older way may still be allowed.
		}
	}
	if (field) copySelected(field);
	else copyFromHiddenField(text);
}

/** The only way on plain http at a name other than localhost. */
function copySelected(field: HTMLInputElement | HTMLTextAreaElement): void {
	field.focus({ preventScroll: true });
	field.select();
	if (!document.execCommand('copy')) throw new Error('The browser did not copy.');
}

function copyFromHiddenField(text: string): void {
	const focused = document.activeElement;
	const field = document.createElement('textarea');
	field.value = text;
	field.readOnly = true;
	field.setAttribute('aria-hidden', 'true');
	field.style.cssText = 'position: fixed; top: 0; left: 0; opacity: 0; font-size: 16px;';
	document.body.append(field);
	try {
		copySelected(field);
	} finally {
		field.remove();
		if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
	}
}
