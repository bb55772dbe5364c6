// biome-ignore-all lint/a11y/useSemanticElements: a virtualized list can't be a table
import type { Entry } from '@stowage/rules';
import { type CSSProperties, type Ref, useCallback, useImperativeHandle, useMemo, useRef } from 'react';
import { thumbnails } from '../../../api/ThumbnailLoader.js';
import { isFocusLost } from '../../../ui/keyboard/keptFocus.js';
import { useCovered } from '../../../ui/notifications/useCovered.js';
import type { EntryDrag } from '../dragAndDrop/useEntryDrag.js';
import type { ListedFolder } from '../folder/useFolderView.js';
import type { ListCommands } from '../keyboard/listCommands.js';
import { useListKeys } from '../keyboard/useListKeys.js';
import { type Layout, totalHeight } from '../layout/layout.js';
import { useFastScroll } from '../layout/useFastScroll.js';
import { useLayout } from '../layout/useLayout.js';
import { useScrollAnchor } from '../layout/useScrollAnchor.js';
import { useScrollPosition } from '../layout/useScrollPosition.js';
import { useVirtualLines } from '../layout/useVirtualLines.js';
import { filesMessages as messages } from '../messages.js';
import type { Point } from '../selection/marquee.js';
import { cursorIndex, type SelectionAction } from '../selection/selection.js';
import { FileItems, type FileItemsProps } from './FileItems.js';
import styles from './FileList.module.css';
import { FileListHeader } from './FileListHeader.js';
import { FileSkeletons } from './FileSkeletons.js';
import { entryAt } from './rows.js';
import { columnSizes, type SortOrder, type Table } from './table.js';
import { useListFocus } from './useListFocus.js';
import { rowIndexOf, useListPointer } from './useListPointer.js';

/** The distance of a menu that the keyboard opens from the corner of its entry. */
const menuOffset = 40;

const pauseThumbnails = () => thumbnails.pause();

export interface FileListHandle {
	focusCursor: () => void;
	/** Moves the focus to the list, if nothing else has it. */
	focusIfUnfocused: () => void;
	scrollToTop: () => void;
	/** The position of a menu that was requested by the keyboard. */
	menuPoint: () => Point;
}

export interface FileListProps<E extends Entry, C extends string>
	extends Pick<FileItemsProps<E>, 'view' | 'cutKeys' | 'showsFolder' | 'thumbnailOf'> {
	ref?: Ref<FileListHandle>;
	/** What it shows of each entry. */
	table: Table<E, C>;
	folder: ListedFolder<E>;
	sort: SortOrder<C>;
	onSort: (column: C) => void;
	/** Left out where nothing can be dragged. */
	drag?: EntryDrag;
	commands: ListCommands;
}

/**
 * The files of a folder, as a list or as a grid of tiles: a virtualized ARIA grid either way, in which each entry is a row. Only
 * the entries on screen and the one with the focus are rendered.
 */
export function FileList<E extends Entry, C extends string>(props: FileListProps<E, C>) {
	const { ref, table, view, folder, sort, onSort, drag, commands, ...looks } = props;
	const { key: folderKey, rows, selection } = folder;
	const grid = useRef<HTMLDivElement>(null);
	const scroller = useRef<HTMLDivElement>(null);
	const marquee = useRef<HTMLDivElement>(null);
	const shown = rows ?? folder.firstRows;
	const isLoading = rows === undefined;
	const count = rows?.count ?? 0;
	const shownCount = shown?.count ?? 0;
	const cursor = rows && cursorIndex(selection.cursor, rows);
	const sizes = useMemo(() => columnSizes(table), [table]);
	const layout = useLayout(view, scroller);
	const covered = useCovered();
	const lines = useVirtualLines(scroller, view, layout, shownCount, cursor, covered);
	const focus = useListFocus(grid, folder, cursor);
	const { cursorElement, focusCursor } = focus;
	const scrollToTop = useCallback(() => scroller.current?.scrollTo({ top: 0 }), []);
	useScrollPosition({
		scroller,
		rows: shown,
		folderKey,
		savedScrollTop: folder.scrollTop,
		revealed: folder.revealed,
		onRevealed: folder.onRevealed,
		scrollTo: lines.scrollTo,
	});
	useScrollAnchor({ scroller, rows, layout, folderKey, cursor, scrollTop: lines.scrollTop });
	const select = (action: SelectionAction) => {
		// Text that is selected elsewhere would be copied in place of these entries.
		window.getSelection()?.removeAllRanges();
		folder.select(action);
	};
	const watchSpeed = useFastScroll(pauseThumbnails);
	const onPointer = useListPointer({ scroller, marquee, rows, selection, select, layout, commands });
	const onKeyDown = useListKeys({
		rows,
		selection,
		columns: layout.columns,
		// Of a list one row stays on screen; a screen has few lines of tiles.
		page: () => Math.floor((scroller.current?.clientHeight ?? 0) / layout.lineStep) - (view === 'list' ? 1 : 0),
		dispatch: select,
		goTo: (index) => {
			focus.focusRow(index);
			lines.scrollTo(index);
		},
		onOpen: commands.open,
		onCommand: commands.run,
		missing: commands.missing,
	});

	useImperativeHandle(
		ref,
		() => ({
			focusCursor,
			focusIfUnfocused() {
				// A closing dialog keeps the focus if the row that had it before is gone.
				if (isFocusLost() || document.activeElement?.closest('[role="dialog"]')) focusCursor();
			},
			scrollToTop,
			menuPoint() {
				const box = cursorElement()?.getBoundingClientRect();
				const list = scroller.current?.getBoundingClientRect();
				if (!box || !list) return { x: 0, y: 0 };
				return { x: box.left + menuOffset, y: Math.min(Math.max(box.top + menuOffset, list.top), list.bottom) };
			},
		}),
		[cursorElement, focusCursor, scrollToTop],
	);

	return (
		<div
			ref={grid}
			role="grid"
			aria-label={messages.grid}
			aria-rowcount={isLoading ? -1 : count + 1}
			aria-colcount={table.columns.length}
			aria-multiselectable
			aria-busy={isLoading}
			tabIndex={count === 0 ? 0 : -1}
			className={styles.grid}
			style={sizes}
			data-view={view}
			{...focus.handlers}
		>
			<FileListHeader
				table={table}
				sort={sort}
				onSort={(column) => {
					onSort(column);
					scrollToTop();
				}}
			/>
			<div
				ref={scroller}
				role="rowgroup"
				className={styles.scroller}
				style={{ paddingBottom: covered }}
				onScroll={(event) => {
					watchSpeed(event);
					folder.onScroll(event.currentTarget.scrollTop);
				}}
				onKeyDown={onKeyDown}
				{...onPointer}
				onDragStart={(event) => {
					const entry = rows && entryAt(rows, rowIndexOf(event.target as Element) ?? -1);
					if (entry) drag?.start(event, entry);
				}}
				onDragEnd={drag?.end}
			>
				{shown ? (
					<div role="presentation" className={styles.rows} style={sizesOf(layout, shownCount)} inert={isLoading}>
						<FileItems
							{...looks}
							table={table}
							view={view}
							layout={layout}
							rows={shown}
							folderKey={folderKey}
							indexes={lines.rendered}
							cursor={cursor}
							cursorRef={focus.cursorRef}
							selected={selection.selected}
							mayDrag={drag?.mayDrag}
						/>
						<div ref={marquee} className={styles.marquee} hidden />
					</div>
				) : (
					<FileSkeletons view={view} table={table} />
				)}
			</div>
		</div>
	);
}

/** Tiles have one size, which is passed to their style sheet here. */
function sizesOf(layout: Layout, count: number): CSSProperties {
	const sizes = { '--tile-width': `${layout.width}px`, '--tile-height': `${layout.height}px` };
	return { height: totalHeight(layout, count), ...(layout.columns === 1 ? {} : sizes) };
}
