// biome-ignore-all lint/a11y/useSemanticElements: a virtualized list can't be a table
// biome-ignore-all lint/a11y/useFocusableInteractive: in a grid its rows are focused, and the buttons of its headers
import type { Entry, SortColumn, SortMode } from '@stowage/rules';
import { useVirtualizer } from '@tanstack/react-virtual';
import {
	type CSSProperties,
	type MouseEvent as ReactMouseEvent,
	type Ref,
	type UIEvent,
	useCallback,
	useImperativeHandle,
	useLayoutEffect,
	useRef,
} from 'react';
import { thumbnails } from '../../../api/ThumbnailLoader.js';
import type { View } from '../../../ui/useView.js';
import { type ListCommand, useListKeys } from '../keyboard/useListKeys.js';
import { type Layout, lineCount, lineOf, positionOf, totalHeight } from '../layout/layout.js';
import { useLayout } from '../layout/useLayout.js';
import { useScrollAnchor } from '../layout/useScrollAnchor.js';
import { useLongPress } from '../menu/useLongPress.js';
import { filesMessages as messages } from '../messages.js';
import type { Point } from '../selection/marquee.js';
import { cursorIndex, type RowKey, type Selection, type SelectionAction } from '../selection/selection.js';
import { useMarquee } from '../selection/useMarquee.js';
import styles from './FileList.module.css';
import { FileListHeader } from './FileListHeader.js';
import { FileRow, ParentRow } from './FileRow.js';
import { FileSkeletons } from './FileSkeletons.js';
import { FileTile, ParentTile } from './FileTile.js';
import { entryAt, parentRowKey, type Rows } from './rows.js';

/** Lines that are rendered beyond the edges, so that fast scrolling shows no gap. */
const overscan: Readonly<Record<View, number>> = { list: 12, grid: 2 };

/** Type, Name, Count, Size, two of Modified, and Actions. A tile has some of them. */
const columnCount = 7;

/** Screens per millisecond above which rows scroll by unreadably. */
const fastScroll = 2 / 1000;

/** The distance of a menu that the keyboard opens from the corner of its entry. */
const menuOffset = 40;

export interface FileListHandle {
	focusCursor: () => void;
	/** Moves the focus to the list, if nothing else has it. */
	focusIfUnfocused: () => void;
	scrollToTop: () => void;
	/** The position of a menu that was requested by the keyboard. */
	menuPoint: () => Point;
}

export interface FileListProps {
	ref?: Ref<FileListHandle>;
	view: View;
	/** Identifies the folder; another one begins at its own scroll offset. */
	folderKey: string;
	/** Undefined while they are loading. */
	rows: Rows | undefined;
	sort: SortMode;
	onSort: (column: SortColumn) => void;
	selection: Selection;
	dispatch: (action: SelectionAction) => void;
	/** The rows that were cut. */
	cutKeys: ReadonlySet<RowKey>;
	/** Shows the folder of each entry, for search results. */
	showsFolder: boolean;
	mayDrag: (entry: Entry) => boolean;
	/** The URL of an entry's thumbnail in the grid; undefined for a kind without one. */
	thumbnailOf: (entry: Entry) => string | undefined;
	/** The scroll offset at which the folder was left, applied when its rows are there. */
	scrollTop: number;
	onScroll: (scrollTop: number) => void;
	/** A row to scroll to once it is there. */
	revealed: RowKey | undefined;
	onRevealed: () => void;
	onOpen: (index: number) => void;
	/** Requests the menu of a row, or of the folder if there is no row. */
	onMenu: (at: Point, index: number | undefined) => void;
	onCommand: (command: ListCommand) => void;
	onDragStart: (event: React.DragEvent, entry: Entry) => void;
	onDragEnd: () => void;
}

/**
 * The files of a folder, as a list or as a grid of tiles: a virtualized ARIA grid either way, in which each entry is a row. Only
 * the entries on screen and the one with the focus are rendered.
 */
export function FileList(props: FileListProps) {
	const { ref, view, folderKey, rows, selection, dispatch, cutKeys } = props;
	const { onOpen, onMenu, onCommand, revealed, onRevealed } = props;
	const grid = useRef<HTMLDivElement>(null);
	const scroller = useRef<HTMLDivElement>(null);
	const marquee = useRef<HTMLDivElement>(null);
	const wantsFocus = useRef(false);
	const hadFocus = useRef(false);
	const lastScroll = useRef({ at: 0, time: 0 });
	const count = rows?.keys.length ?? 0;
	const cursor = rows && cursorIndex(selection.cursor, rows);
	const layout = useLayout(view, scroller);

	const virtualizer = useVirtualizer({
		count: lineCount(layout, count),
		getScrollElement: () => scroller.current,
		estimateSize: () => layout.lineStep,
		paddingStart: layout.padding,
		paddingEnd: layout.padding,
		overscan: overscan[view],
	});
	// Before the scrolling below: the sizes of another layout are cached.
	useLayoutEffect(() => {
		if (layout.lineStep > 0) virtualizer.measure();
	}, [virtualizer, layout]);
	const [FileItem, ParentItem] = view === 'grid' ? [FileTile, ParentTile] : [FileRow, ParentRow];
	const lines = virtualizer.getVirtualItems();
	const first = (lines[0]?.index ?? 0) * layout.columns;
	const end = Math.min(count, ((lines.at(-1)?.index ?? -1) + 1) * layout.columns);
	const rendered = Array.from({ length: Math.max(0, end - first) }, (_, step) => first + step);
	// The entry with the focus stays rendered when it is scrolled away, or the focus would be lost.
	if (cursor !== undefined && cursor < count && (cursor < first || cursor >= end)) rendered.push(cursor);

	const rowElement = useCallback(
		(index: number | undefined) =>
			index === undefined ? null : (scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"]`) ?? null),
		[],
	);
	const focusCursor = useCallback(
		() => (rowElement(cursor) ?? grid.current)?.focus({ preventScroll: true }),
		[rowElement, cursor],
	);
	const goTo = useCallback(
		(index: number) => {
			wantsFocus.current = true;
			virtualizer.scrollToIndex(lineOf(layout, index), { align: 'auto' });
		},
		[virtualizer, layout],
	);

	useLayoutEffect(() => {
		const target = rowElement(cursor) ?? grid.current;
		// When the row with the focus is removed, the focus falls to the body.
		const isLost = hadFocus.current && document.activeElement === document.body;
		if (!wantsFocus.current && !isLost && document.activeElement !== grid.current) return;
		wantsFocus.current = false;
		if (target !== document.activeElement) target?.focus({ preventScroll: true });
	});
	useImperativeHandle(
		ref,
		() => ({
			focusCursor,
			focusIfUnfocused() {
				const { activeElement } = document;
				// A closing dialog keeps the focus if the row that had it before is gone.
				if (!activeElement || activeElement === document.body || activeElement.closest('[role="dialog"]'))
					focusCursor();
			},
			scrollToTop: () => scroller.current?.scrollTo({ top: 0 }),
			menuPoint() {
				const box = (rowElement(cursor) ?? scroller.current)?.getBoundingClientRect();
				const list = scroller.current?.getBoundingClientRect();
				if (!box || !list) return { x: 0, y: 0 };
				return { x: box.left + menuOffset, y: Math.min(Math.max(box.top + menuOffset, list.top), list.bottom) };
			},
		}),
		[cursor, rowElement, focusCursor],
	);

	const restored = useRef({ folderKey: '', isDone: false });
	const { scrollTop } = props;
	useLayoutEffect(() => {
		// Also for a folder that was left before its rows arrived.
		if (restored.current.folderKey !== folderKey) restored.current = { folderKey, isDone: false };
		if (!rows || restored.current.isDone) return;
		restored.current.isDone = true;
		if (scroller.current) scroller.current.scrollTop = scrollTop;
	}, [rows, folderKey, scrollTop]);

	useScrollAnchor({ scroller, rows, layout, folderKey, cursor, scrollTop: virtualizer.scrollOffset ?? 0 });

	useLayoutEffect(() => {
		const index = revealed === undefined ? undefined : rows?.indexOf(revealed);
		if (index === undefined) return;
		virtualizer.scrollToIndex(lineOf(layout, index), { align: 'auto' });
		onRevealed();
	}, [revealed, rows, virtualizer, layout, onRevealed]);

	const onKeyDown = useListKeys({
		rows,
		selection,
		columns: layout.columns,
		// Of a list one row stays on screen; a screen has few lines of tiles.
		page: () => Math.floor((scroller.current?.clientHeight ?? 0) / layout.lineStep) - (view === 'list' ? 1 : 0),
		dispatch,
		goTo,
		onOpen,
		onCommand,
	});
	const { onPointerDown: startMarquee, suppressesClick } = useMarquee({
		scroller,
		marquee,
		rows,
		layout,
		selected: selection.selected,
		dispatch,
	});
	const press = useLongPress((target, at) => onMenu(at, indexOf(target)));

	function scroll(event: UIEvent<HTMLElement>) {
		const { scrollTop: top, clientHeight } = event.currentTarget;
		const { at, time } = lastScroll.current;
		lastScroll.current = { at: top, time: event.timeStamp };
		const screens = Math.abs(top - at) / Math.max(1, clientHeight);
		if (screens / Math.max(1, event.timeStamp - time) > fastScroll) thumbnails.pause();
		props.onScroll(top);
	}

	function click(event: ReactMouseEvent) {
		if (suppressesClick() || press.suppressesClick() || !rows || !(event.target instanceof Element)) return;
		const index = indexOf(event.target);
		const key = index === undefined ? undefined : rows.keys[index];
		if (index === undefined || key === undefined) return dispatch({ type: 'cleared' });
		const part = event.target.closest<HTMLElement>('[data-part]')?.dataset.part;
		if (part === 'menu') {
			const box = event.target.getBoundingClientRect();
			return onMenu({ x: box.left, y: box.bottom }, index);
		}
		const at = { key, index };
		const isSelectable = index >= rows.firstEntry;
		if (event.shiftKey) {
			return dispatch({ type: 'extended', to: at, order: rows, keep: event.ctrlKey || event.metaKey });
		}
		if (event.ctrlKey || event.metaKey || part === 'check' || (part === 'type' && isTouch(event))) {
			return isSelectable ? dispatch({ type: 'toggled', at }) : undefined;
		}
		// The second click of a double click would hit the element that the first one has opened.
		if (event.detail > 1) return;
		dispatch({ type: 'opened', at });
		onOpen(index);
	}

	function contextMenu(event: ReactMouseEvent) {
		event.preventDefault();
		// A long press has opened it already.
		if (press.suppressesClick() || isTouch(event) || !(event.target instanceof Element)) return;
		// Keys send this event as well, without a position; they are handled by `onKeyDown`.
		if (event.clientX === 0 && event.clientY === 0) return;
		onMenu({ x: event.clientX, y: event.clientY }, indexOf(event.target));
	}

	return (
		<div
			ref={grid}
			role="grid"
			aria-label={messages.grid}
			aria-rowcount={count + 1}
			aria-colcount={columnCount}
			aria-multiselectable
			aria-busy={rows === undefined}
			tabIndex={count === 0 ? 0 : -1}
			className={styles.grid}
			data-view={view}
			onFocus={(event) => {
				hadFocus.current = true;
				const index = indexOf(event.target);
				const key = index === undefined ? undefined : rows?.keys[index];
				if (index !== undefined && key !== undefined) dispatch({ type: 'focused', at: { key, index } });
				else if (event.target === grid.current) rowElement(cursor)?.focus({ preventScroll: true });
			}}
			onBlur={(event) => {
				// `relatedTarget` is null when the row is removed or the window loses the focus; the list keeps it then.
				if (event.relatedTarget instanceof Node && !event.currentTarget.contains(event.relatedTarget)) {
					hadFocus.current = false;
				}
			}}
		>
			<div role="rowgroup" className={styles.headerGroup}>
				<FileListHeader
					sort={props.sort}
					onSort={(column) => {
						props.onSort(column);
						scroller.current?.scrollTo({ top: 0 });
					}}
				/>
			</div>
			<div
				ref={scroller}
				role="rowgroup"
				className={styles.scroller}
				onScroll={scroll}
				onKeyDown={onKeyDown}
				onClick={click}
				onContextMenu={contextMenu}
				{...press.handlers}
				onPointerDown={(event) => {
					press.handlers.onPointerDown(event);
					startMarquee(event);
				}}
				onDragStart={(event) => {
					const entry = rows && entryAt(rows, indexOf(event.target as Element) ?? -1);
					if (entry) props.onDragStart(event, entry);
				}}
				onDragEnd={props.onDragEnd}
			>
				{rows ? (
					<div role="presentation" className={styles.rows} style={sizesOf(layout, count)}>
						{rendered.map((index) => {
							const { left, top } = positionOf(layout, index);
							const isCursor = index === cursor;
							const entry = entryAt(rows, index);
							const key = rows.keys[index];
							if (!entry || key === undefined)
								return <ParentItem key={`${parentRowKey}${folderKey}`} left={left} top={top} isCursor={isCursor} />;
							return (
								<FileItem
									key={key}
									entry={entry}
									thumbnail={view === 'grid' ? props.thumbnailOf(entry) : undefined}
									index={index}
									left={left}
									top={top}
									isSelected={selection.selected.has(key)}
									isCut={cutKeys.has(key)}
									isCursor={isCursor}
									showsFolder={props.showsFolder}
									mayDrag={props.mayDrag(entry)}
								/>
							);
						})}
						<div ref={marquee} className={styles.marquee} hidden />
					</div>
				) : (
					<FileSkeletons view={view} />
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

/** The index of the row that an element belongs to. */
function indexOf(element: Element): number | undefined {
	const index = element.closest<HTMLElement>('[data-index]')?.dataset.index;
	return index === undefined ? undefined : Number(index);
}

function isTouch(event: ReactMouseEvent): boolean {
	return event.nativeEvent instanceof PointerEvent && event.nativeEvent.pointerType === 'touch';
}
