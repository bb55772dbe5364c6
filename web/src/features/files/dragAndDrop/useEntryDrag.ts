import {
	type Area,
	type Clipboard,
	cutDenial,
	type Entry,
	itemOf,
	planPaste,
	type StoragePath,
	type Viewer,
} from '@stowage/rules';
import { type DragEvent, useRef } from 'react';
import { useMediaQuery } from '../../../ui/useMediaQuery.js';
import type { FolderView } from '../folder/useFolderView.js';
import { keyOf } from '../list/rows.js';
import { nameItems } from '../messages.js';
import { outermost } from '../operations/permitted.js';
import styles from './dragImage.module.css';

export interface EntryDragOptions {
	viewer: Viewer;
	area: Area;
	directory: StoragePath;
	folder: Pick<FolderView, 'selection' | 'selected'>;
}

export interface EntryDrag {
	mayDrag: (entry: Entry) => boolean;
	/** Drags an entry, or the selection that it is part of, as far as it may be moved. */
	start: (event: DragEvent, entry: Entry) => void;
	end: () => void;
	/** The entries that are dragged with this transfer, if they can be moved into this folder. */
	droppableIn: (transfer: DataTransfer, directory: StoragePath) => Clipboard | undefined;
}

const transferType = 'application/x-stowage-entries';

/** Dragging entries by their names into another folder, which moves them. */
export function useEntryDrag({ viewer, area, directory, folder }: EntryDragOptions): EntryDrag {
	// On a touch screen a long press on a name would start a drag, where it opens the menu.
	const hasCoarsePointer = useMediaQuery('(pointer: coarse)');
	// No state, since nothing is rendered from it.
	const dragged = useRef<Clipboard | undefined>(undefined);
	const mayCut = (entry: Entry) => cutDenial(viewer, itemOf(area, entry)) === undefined;
	return {
		mayDrag: (entry) => !hasCoarsePointer && mayCut(entry),
		start(event, entry) {
			const entries = folder.selection.selected.has(keyOf(entry)) ? folder.selected : [entry];
			const items = outermost(entries.filter(mayCut));
			if (items.length === 0) return event.preventDefault();
			dragged.current = { operation: 'cut', items, sourceArea: area, sourceDirectory: directory };
			event.dataTransfer.setData(transferType, '');
			event.dataTransfer.effectAllowed = 'move';
			setDragImage(event, nameItems(items));
		},
		end() {
			dragged.current = undefined;
		},
		droppableIn(transfer, target) {
			// What was dragged before may still be known: an entry whose row is gone hears no end of its drag.
			if (!dragged.current || !transfer.types.includes(transferType)) return undefined;
			return planPaste(dragged.current, viewer, area, target).kind === 'refused' ? undefined : dragged.current;
		},
	};
}

/** Shows a label under the pointer instead of a picture of the row. */
function setDragImage(event: DragEvent, text: string): void {
	const chip = document.createElement('div');
	chip.className = styles.chip ?? '';
	chip.textContent = text;
	document.body.append(chip);
	event.dataTransfer.setDragImage(chip, -8, -4);
	// The browser takes its picture after this event.
	setTimeout(() => chip.remove());
}
