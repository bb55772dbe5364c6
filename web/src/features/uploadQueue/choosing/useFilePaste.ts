import { useEffect } from 'react';
import { type Chosen, droppedFiles, hasFiles } from './chosenFiles.js';

/** Accepts files and pictures that are pasted anywhere but into a field. */
export function useFilePaste(onPaste: (pasted: Chosen | Promise<Chosen>) => void): void {
	useEffect(() => {
		const paste = (event: ClipboardEvent) => {
			const isTyping = event.target instanceof Element && event.target.closest('input, textarea, [role="dialog"]');
			if (event.defaultPrevented || isTyping || !event.clipboardData || !hasFiles(event.clipboardData)) return;
			event.preventDefault();
			onPaste(droppedFiles(event.clipboardData));
		};
		document.addEventListener('paste', paste);
		return () => document.removeEventListener('paste', paste);
	}, [onPaste]);
}
