import { useState } from 'react';

/** How long a dialog fades in and out; the theme's transitions take as long. */
export const dialogMilliseconds = 150;

/**
 * Counts the openings of a dialog, to be its `key`: it is then mounted anew each time. A dialog that stays mounted
 * remembers the focused element too late, after its own first field got the focus, and can't restore it.
 */
export function useOpenings(isOpen: boolean): number {
	const [state, setState] = useState({ isOpen, openings: 0 });
	if (isOpen !== state.isOpen) setState({ isOpen, openings: state.openings + Number(isOpen) });
	return state.openings;
}

/** The value, or the last one while it is undefined, so that a dialog keeps its content while it fades out. */
export function useLast<T>(value: T | undefined): T | undefined {
	const [last, setLast] = useState(value);
	if (value !== undefined && value !== last) setLast(value);
	return value ?? last;
}
