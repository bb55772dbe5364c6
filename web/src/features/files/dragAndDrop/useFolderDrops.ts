import { useLayoutEffect, useState } from 'react';
import { useLatest } from '../../../ui/useLatest.js';

/** The effect of a drop: to upload files from outside, or to move entries of the list. */
export type DropEffect = 'copy' | 'move' | 'none';

/** An element that represents a folder, or the rest of the page. */
export type DropTarget = { kind: 'element'; element: HTMLElement } | { kind: 'page' };

export interface FolderDropOptions {
	/** The elements that represent folders of their own. */
	folderSelector: string;
	effectOf: (transfer: DataTransfer, target: DropTarget) => DropEffect;
	onDrop: (transfer: DataTransfer, target: DropTarget) => void;
}

/**
 * Accepts drops on folders and on the rest of the page. A drop of files that is not handled would make the browser leave the
 * page and open the file. The folder under the pointer gets the attribute `data-drop`. Returns whether files are being
 * dragged over the page itself.
 */
export function useFolderDrops(options: FolderDropOptions): boolean {
	const latest = useLatest(options);
	const [isOverPage, setOverPage] = useState(false);

	useLayoutEffect(() => {
		let marked: HTMLElement | undefined;
		const mark = (element: HTMLElement | undefined) => {
			if (element === marked) return;
			marked?.removeAttribute('data-drop');
			element?.setAttribute('data-drop', '');
			marked = element;
		};
		const find = (event: DragEvent): { target: DropTarget; effect: DropEffect } => {
			const { folderSelector, effectOf } = latest.current;
			const transfer = event.dataTransfer;
			if (!transfer) return { target: { kind: 'page' }, effect: 'none' };
			const found = event.target instanceof Element ? event.target.closest<HTMLElement>(folderSelector) : null;
			// The rows of a dialog, such as those of queued uploads, are none of the list behind it.
			const element = found?.closest('[role=dialog]') ? null : found;
			const onElement: DropTarget | undefined = element ? { kind: 'element', element } : undefined;
			const effect = onElement ? effectOf(transfer, onElement) : 'none';
			// A drop on the row of a file goes into the folder on screen.
			if (onElement && effect !== 'none') return { target: onElement, effect };
			return { target: { kind: 'page' }, effect: effectOf(transfer, { kind: 'page' }) };
		};
		const over = (event: DragEvent) => {
			const { target, effect } = find(event);
			const isFiles = event.dataTransfer?.types.includes('Files') ?? false;
			// Refused files must not be opened by the browser either.
			if (effect !== 'none' || isFiles) event.preventDefault();
			if (event.dataTransfer) event.dataTransfer.dropEffect = effect;
			mark(target.kind === 'element' ? target.element : undefined);
			setOverPage(isFiles && target.kind === 'page' && effect !== 'none');
		};
		const end = () => {
			mark(undefined);
			setOverPage(false);
		};
		const leave = (event: DragEvent) => {
			if (event.relatedTarget === null) end();
		};
		const drop = (event: DragEvent) => {
			const { target, effect } = find(event);
			end();
			if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
			if (!event.dataTransfer || effect === 'none') return;
			event.preventDefault();
			latest.current.onDrop(event.dataTransfer, target);
		};
		const controller = new AbortController();
		const { signal } = controller;
		window.addEventListener('dragenter', over, { signal });
		window.addEventListener('dragover', over, { signal });
		window.addEventListener('dragleave', leave, { signal });
		window.addEventListener('dragend', end, { signal });
		window.addEventListener('drop', drop, { signal });
		return () => {
			controller.abort();
			mark(undefined);
		};
	}, []);
	return isOverPage;
}
