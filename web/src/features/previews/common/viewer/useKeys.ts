import { useLayoutEffect } from 'react';
import { useLatest } from '../../../../ui/useLatest.js';

/** The keys of a viewer, while no field or handle in it has a use for them. The handler answers whether it took the key. */
export function useKeys(onKey: (event: KeyboardEvent) => boolean): void {
	const latest = useLatest(onKey);
	useLayoutEffect(() => {
		const listen = (event: KeyboardEvent) => {
			if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
			const target = event.target as Element | null;
			if (target?.closest?.('input, select, textarea, [data-handle], [role="radiogroup"]')) return;
			// Space and Enter press the focused element.
			if ((event.key === ' ' || event.key === 'Enter') && target?.closest?.('a, button, summary')) return;
			if (latest.current(event)) event.preventDefault();
		};
		window.addEventListener('keydown', listen);
		return () => window.removeEventListener('keydown', listen);
	}, []);
}
