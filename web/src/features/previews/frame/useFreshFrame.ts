import { useEffect, useState } from 'react';
import { useLatest } from '../../../ui/useLatest.js';

/** How long a browser lets a process live after its last frame is gone, at least. */
const reuseMs = 5_000;
const patienceMs = 3_000;
/** After this time the process is gone. */
const pauseMs = 2_500;

let lastRemoved = Number.NEGATIVE_INFINITY;

/**
 * Whether a viewer's frame is to be there. A browser puts a new one into the process of the one before for a moment,
 * which may still be busy with its file: one that is not connected by then is removed and made anew.
 */
export function useFreshFrame(isConnected: boolean): boolean {
	const latest = useLatest(isConnected);
	const [isThere, setThere] = useState(true);
	useEffect(() => {
		const mayShare = performance.now() - lastRemoved < reuseMs;
		let timer = mayShare ? setTimeout(remove, patienceMs) : undefined;
		function remove() {
			if (latest.current) return;
			setThere(false);
			timer = setTimeout(() => setThere(true), pauseMs);
		}
		return () => {
			clearTimeout(timer);
			lastRemoved = performance.now();
		};
	}, []);
	return isThere;
}
