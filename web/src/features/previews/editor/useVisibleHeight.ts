import { type RefObject, useEffect } from 'react';

/** Ends an element where the screen keyboard of a phone begins, which covers the page and does not resize it. */
export function useVisibleHeight(element: RefObject<HTMLElement | null>): void {
	useEffect(() => {
		const viewport = window.visualViewport;
		if (!viewport) return;
		const fit = () => {
			const { current } = element;
			if (!current) return;
			const covered = window.innerHeight - viewport.height - viewport.offsetTop;
			// Less is no keyboard, but a bar of the browser that moves, or a zoom.
			const isKeyboard = covered > 100 && viewport.scale === 1;
			const bottom = isKeyboard ? viewport.offsetTop + viewport.height : 0;
			current.style.maxHeight = isKeyboard ? `${bottom - current.getBoundingClientRect().top}px` : '';
		};
		viewport.addEventListener('resize', fit);
		viewport.addEventListener('scroll', fit);
		return () => {
			viewport.removeEventListener('resize', fit);
			viewport.removeEventListener('scroll', fit);
		};
	}, [element]);
}
