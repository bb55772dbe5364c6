import { useLayoutEffect } from 'react';
import { isEditable } from '../../../ui/keyboard/isEditable.js';
import { useIsCovered } from '../../../ui/keyboard/useIsCovered.js';
import { useLatest } from '../../../ui/useLatest.js';

export interface PasteOptions {
	/** Files or a picture were pasted from the system's clipboard. */
	onFiles: (transfer: DataTransfer) => void;
	/** Called if anything else was pasted, which means the entries that were cut or copied here. */
	onPaste: () => void;
}

/** Handles the browser's paste event, which gives access to pasted files without a permission. */
export function usePasteEvent(options: PasteOptions): void {
	const latest = useLatest(options);
	const isCovered = useIsCovered();
	useLayoutEffect(() => {
		const paste = (event: ClipboardEvent) => {
			if (event.defaultPrevented || isCovered() || isEditable(event.target)) return;
			event.preventDefault();
			const transfer = event.clipboardData;
			if (transfer?.types.includes('Files')) latest.current.onFiles(transfer);
			else latest.current.onPaste();
		};
		document.addEventListener('paste', paste);
		return () => document.removeEventListener('paste', paste);
	}, [isCovered]);
}
