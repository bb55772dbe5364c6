import { useEffect } from 'react';
import { useNavigationType } from 'react-router';

/** Whether this document has led from one place to another: only then is there a place in it to go back to. */
let hasMoved = false;

/** Whether one is here again, by going back or by a reload, and not on a way of one's own. */
export function useIsReturn(): boolean {
	const type = useNavigationType();
	useEffect(() => {
		if (type !== 'POP') hasMoved = true;
	}, [type]);
	// The first page of a visit is a pop as well; the browser knows how it was come to.
	return type === 'POP' && (hasMoved || wasReloaded());
}

function wasReloaded(): boolean {
	const [navigation] = performance.getEntriesByType('navigation');
	return navigation instanceof PerformanceNavigationTiming && navigation.type !== 'navigate';
}
