import { createContext, useContext } from 'react';

/** The services of the frame for its pages. */
export interface Frame {
	openSignIn(): void;
	openSignUp(): void;
	/** Opens the settings of a signed-in user. */
	openSettings(): void;
	/** Opens the links and shares of a signed-in user. */
	openLinks(): void;
	/** Opens the dialog with the long work of a signed-in user. */
	openActivity(): void;
}

export const FrameContext = createContext<Frame | undefined>(undefined);

export function useFrame(): Frame {
	const frame = useContext(FrameContext);
	if (!frame) throw new Error('useFrame is used outside of the frame.');
	return frame;
}
