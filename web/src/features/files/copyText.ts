/** Puts a text on the system's clipboard. Throws if the browser refuses both ways. */
export async function copyText(text: string): Promise<void> {
	if (navigator.clipboard && window.isSecureContext) {
		try {
			await navigator.clipboard.writeText(text);
			return;
		} catch {
			// Not allowed here, as in some frames; the older way may still be.
		}
	}
	copyBySelection(text);
}

/** The only way on plain http at a name other than localhost: a field with the text in it, selected and copied. */
function copyBySelection(text: string): void {
	const focused = document.activeElement;
	const field = document.createElement('textarea');
	field.value = text;
	field.readOnly = true;
	field.setAttribute('aria-hidden', 'true');
	field.style.cssText = 'position: fixed; top: 0; left: 0; opacity: 0; font-size: 16px;';
	document.body.append(field);
	try {
		field.select();
		if (!document.execCommand('copy')) throw new Error('The browser did not copy.');
	} finally {
		field.remove();
		if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
	}
}
