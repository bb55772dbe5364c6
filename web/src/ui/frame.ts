import { createContext, useContext } from 'react';

/** The services of the frame for its pages. */
export interface Frame {
	openSignIn(): void;
	openSignUp(): void;
	/** For a signed-in user. */
	openSettings(): void;
	/** For a signed-in user: their long work. */
	openActivity(): void;
}

export const FrameContext = createContext<Frame | undefined>(undefined);

export function useFrame(): Frame {
	const frame = useContext(FrameContext);
	if (!frame) throw new Error('useFrame is used outside of the frame.');
	return frame;
}
