import { useOverlayStack } from '@blueprintjs/core';
import { useCallback } from 'react';

/** Whether a dialog or a menu is open, which then handles the keys. It is asked when a key is pressed. */
export function useIsCovered(): () => boolean {
	const { getLastOpened } = useOverlayStack();
	return useCallback(() => getLastOpened() !== undefined, [getLastOpened]);
}
