import { useEffect, useState } from 'react';
import { type Chosen, droppedFiles, hasFiles } from './chosenFiles.js';

/**
 * Accepts files that are dropped anywhere on the page, and returns whether some are being dragged over it. Without it the
 * browser would leave the page and open the file.
 */
export function useFileDrop(onDrop: (dropped: Chosen | Promise<Chosen>) => void): boolean {
	const [isDragging, setDragging] = useState(false);
	useEffect(() => {
		// `dragenter` of a child comes before `dragleave` of its parent, so they are counted.
		let depth = 0;
		const enter = (event: DragEvent) => {
			if (!hasFiles(event.dataTransfer)) return;
			depth++;
			setDragging(true);
		};
		const leave = (event: DragEvent) => {
			if (!hasFiles(event.dataTransfer)) return;
			depth = Math.max(0, depth - 1);
			if (depth === 0) setDragging(false);
		};
		const over = (event: DragEvent) => {
			if (!hasFiles(event.dataTransfer)) return;
			event.preventDefault();
			if (event.dataTransfer) event.dataTransfer.dropEffect = 'copy';
		};
		const drop = (event: DragEvent) => {
			depth = 0;
			setDragging(false);
			if (!event.dataTransfer || !hasFiles(event.dataTransfer)) return;
			event.preventDefault();
			onDrop(droppedFiles(event.dataTransfer));
		};
		const listeners = { dragenter: enter, dragleave: leave, dragover: over, drop } as const;
		for (const [name, listener] of Object.entries(listeners)) {
			window.addEventListener(name as keyof typeof listeners, listener);
		}
		return () => {
			for (const [name, listener] of Object.entries(listeners)) {
				window.removeEventListener(name as keyof typeof listeners, listener);
			}
		};
	}, [onDrop]);
	return isDragging;
}
