import { useState } from 'react';

/**
 * Whether anything was typed or chosen in the fields of a dialog since it was opened: then a click beside it must not close it, which
 * would discard that. `onInput` is for what contains the fields.
 */
export function useTyping(isOpen: boolean): { hasTyped: boolean; onInput: () => void } {
	const [hasTyped, setTyped] = useState(false);
	if (hasTyped && !isOpen) setTyped(false);
	return { hasTyped, onInput: () => setTyped(true) };
}
