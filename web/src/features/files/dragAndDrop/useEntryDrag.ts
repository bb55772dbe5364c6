import {
	type Area,
	type Clipboard,
	type Entry,
	itemOf,
	planPaste,
	refuseCut,
	type StoragePath,
	type Viewer,
} from '@stowage/rules';
import { type DragEvent, useCallback, useRef } from 'react';
import { nameItems } from '../dialogs/fileDialog.js';
import styles from '../list/FileList.module.css';

export interface EntryDrag {
	/** Begins to drag these entries, as far as they may be moved. */
	start: (event: DragEvent, entries: readonly Entry[]) => void;
	end: () => void;
	/** What is being dragged, if it can be moved into this folder. */
	carriedTo: (directory: StoragePath) => Clipboard | undefined;
}

const transferType = 'application/x-stowage-entries';

/** Dragging entries by their names, to be moved into another folder. */
export function useEntryDrag(viewer: Viewer, area: Area, directory: StoragePath): EntryDrag {
	// Not state: nothing is drawn by it, and a drag ends with the page that it began on.
	const dragged = useRef<Clipboard | undefined>(undefined);
	return {
		start: useCallback(
			(event, entries) => {
				const items = entries.filter((entry) => refuseCut(viewer, itemOf(area, entry)) === undefined);
				if (items.length === 0) return event.preventDefault();
				dragged.current = { operation: 'cut', items, sourceArea: area, sourceDirectory: directory };
				event.dataTransfer.setData(transferType, '');
				event.dataTransfer.effectAllowed = 'move';
				showChip(event, nameItems(items));
			},
			[viewer, area, directory],
		),
		end: useCallback(() => {
			dragged.current = undefined;
		}, []),
		carriedTo: useCallback(
			(target) => {
				if (!dragged.current) return undefined;
				return planPaste(dragged.current, viewer, area, target).kind === 'refused' ? undefined : dragged.current;
			},
			[viewer, area],
		),
	};
}

/** A quiet label under the pointer in place of a picture of the row. */
function showChip(event: DragEvent, text: string): void {
	const chip = document.createElement('div');
	chip.className = styles.dragChip ?? '';
	chip.textContent = text;
	document.body.append(chip);
	event.dataTransfer.setDragImage(chip, -8, -4);
	// The browser takes its picture once this event is over.
	setTimeout(() => chip.remove());
}
