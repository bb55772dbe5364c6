import { type RefObject, useLayoutEffect, useRef } from 'react';

/**
 * A ref with the value of the last render on screen, for listeners. It is set before the browser can dispatch another
 * event: a key that is pressed as soon as a folder is shown acts on that folder. Listeners that read it are added in a
 * layout effect as well, or the first key would be lost.
 */
export function useLatest<T>(value: T): RefObject<T> {
	const latest = useRef(value);
	useLayoutEffect(() => {
		latest.current = value;
	});
	return latest;
}
