import { useNavigationType } from 'react-router';

let hasGoneBack = false;
if (typeof window !== 'undefined') {
	window.addEventListener('popstate', () => {
		hasGoneBack = true;
	});
}

/** Whether one is here again, by going back or by a reload, and not on a way of one's own. */
export function useIsReturn(): boolean {
	const isPop = useNavigationType() === 'POP';
	// The first page of a visit is a pop as well; the browser knows how it was come to.
	return isPop && (hasGoneBack || wasReloaded());
}

function wasReloaded(): boolean {
	const [navigation] = performance.getEntriesByType('navigation');
	return navigation instanceof PerformanceNavigationTiming && navigation.type !== 'navigate';
}
