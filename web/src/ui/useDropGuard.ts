import { useEffect } from 'react';

/**
 * Refuses files that are dropped where no page takes them: the browser would leave the page, with all that it is doing, and open the
 * file.
 */
export function useDropGuard(): void {
	useEffect(() => {
		const refuse = (event: DragEvent) => {
			// A page that takes them has said so, or says so after this.
			if (event.defaultPrevented || !event.dataTransfer?.types.includes('Files')) return;
			event.preventDefault();
			event.dataTransfer.dropEffect = 'none';
		};
		window.addEventListener('dragover', refuse);
		window.addEventListener('drop', refuse);
		return () => {
			window.removeEventListener('dragover', refuse);
			window.removeEventListener('drop', refuse);
		};
	}, []);
}
