import { useState } from 'react';

/** How long a dialog takes to come and go; the theme's transitions take as long. */
export const dialogMilliseconds = 150;

/**
 * How often something was opened. A dialog that has it as its key is a new one at each opening: one that stays notes where the focus was only after its own first
 * field took it, and then can't give it back.
 */
export function useOpenings(isOpen: boolean): number {
	const [state, setState] = useState({ isOpen, openings: 0 });
	if (isOpen !== state.isOpen) setState({ isOpen, openings: state.openings + Number(isOpen) });
	return state.openings;
}

/** The value, or while there is none the last one: what a dialog shows while it fades out. */
export function useLast<T>(value: T | undefined): T | undefined {
	const [last, setLast] = useState(value);
	if (value !== undefined && value !== last) setLast(value);
	return value ?? last;
}
