import { useState } from 'react';

/**
 * How often something was opened. A dialog that has it as its key is a new one at each opening: one that stays notes where the focus was only after its own first
 * field took it, and then can't give it back.
 */
export function useOpenings(isOpen: boolean): number {
	const [state, setState] = useState({ isOpen, openings: 0 });
	if (isOpen !== state.isOpen) setState({ isOpen, openings: state.openings + Number(isOpen) });
	return state.openings;
}
