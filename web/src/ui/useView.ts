import { useCallback, useState } from 'react';

/** How the entries of a folder are shown. */
export type View = 'list' | 'grid';

const storageKey = 'stowage.view';

/** The chosen view, which this browser remembers. */
export function useView(): [View, (view: View) => void] {
	const [view, setView] = useState(loadView);
	const choose = useCallback((chosen: View) => {
		setView(chosen);
		try {
			window.localStorage.setItem(storageKey, chosen);
		} catch {
			// The storage is full or forbidden: the choice is kept until the page is left.
		}
	}, []);
	return [view, choose];
}

function loadView(): View {
	try {
		return window.localStorage.getItem(storageKey) === 'grid' ? 'grid' : 'list';
	} catch {
		return 'list';
	}
}
