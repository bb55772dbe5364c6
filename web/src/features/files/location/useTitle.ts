import { useEffect } from 'react';
import { messages } from '../../../messages.js';

/** Names the window, and the entry in the browser's history, after what is on screen. */
export function useTitle(title: string): void {
	useEffect(() => {
		document.title = `${title} – ${messages.productName}`;
		return () => {
			document.title = messages.productName;
		};
	}, [title]);
}
