import { useEffect, useRef } from 'react';
import { isCovered, isEditable } from './useListKeys.js';

export interface PasteOptions {
	/** Files or a picture from the system's clipboard. */
	onFiles: (transfer: DataTransfer) => void;
	/** Anything else: what was cut or copied here. */
	onPaste: () => void;
}

/** Listens to the browser's own paste, the one way to files from elsewhere that needs no permission. */
export function usePasteEvent(options: PasteOptions): void {
	const latest = useRef(options);
	useEffect(() => {
		latest.current = options;
	});
	useEffect(() => {
		const paste = (event: ClipboardEvent) => {
			if (event.defaultPrevented || isCovered() || isEditable(event.target)) return;
			event.preventDefault();
			const transfer = event.clipboardData;
			if (transfer?.types.includes('Files')) latest.current.onFiles(transfer);
			else latest.current.onPaste();
		};
		document.addEventListener('paste', paste);
		return () => document.removeEventListener('paste', paste);
	}, []);
}
