import { type RefObject, useLayoutEffect, useMemo, useState } from 'react';
import type { View } from '../../../ui/useView.js';
import { gridLayout, type Layout, listLayout } from './layout.js';

/** The layout of a view; the grid's changes with the width of the list. */
export function useLayout(view: View, scroller: RefObject<HTMLElement | null>): Layout {
	// Until the list is measured, before its first frame, a width that is about right.
	const [width, setWidth] = useState(() => document.documentElement.clientWidth);
	useLayoutEffect(() => {
		const element = scroller.current;
		if (view === 'list' || !element) return;
		const measure = () => setWidth(element.clientWidth);
		measure();
		const observer = new ResizeObserver(measure);
		observer.observe(element);
		return () => observer.disconnect();
	}, [view, scroller]);
	return useMemo(() => (view === 'list' ? listLayout : gridLayout(width)), [view, width]);
}
