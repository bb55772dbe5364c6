import { useLayoutEffect } from 'react';
import { isComposing } from '../../../../ui/keyboard/composing.js';
import { useLatest } from '../../../../ui/useLatest.js';

/**
 * The keys of a viewer, while no field or handle in it has a use for them. The handler answers whether it took the key.
 * Those of the panel are asked behind those of the viewer in it, whichever of them came first.
 */
export function useKeys(onKey: (event: KeyboardEvent) => boolean, whose: 'viewer' | 'panel' = 'viewer'): void {
	const latest = useLatest(onKey);
	useLayoutEffect(() => {
		const target: GlobalEventHandlers = whose === 'viewer' ? document : window;
		const listen = (event: KeyboardEvent) => {
			if (event.defaultPrevented || isComposing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
			const element = event.target as Element | null;
			if (element?.closest?.('input, select, textarea, [data-handle], [role="radiogroup"]')) return;
			// Space and Enter press the focused element.
			if ((event.key === ' ' || event.key === 'Enter') && element?.closest?.('a, button, summary')) return;
			if (latest.current(event)) event.preventDefault();
		};
		target.addEventListener('keydown', listen);
		return () => target.removeEventListener('keydown', listen);
	}, [whose]);
}
