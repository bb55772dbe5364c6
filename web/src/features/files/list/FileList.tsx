// biome-ignore-all lint/a11y/useSemanticElements: a virtualized list can't be a table
// biome-ignore-all lint/a11y/useFocusableInteractive: in a grid its rows are focused, and the buttons of its headers
import type { Entry, SortColumn, SortMode } from '@stowage/rules';
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import {
	type MouseEvent as ReactMouseEvent,
	type Ref,
	useCallback,
	useImperativeHandle,
	useLayoutEffect,
	useRef,
} from 'react';
import { type ListCommand, useListKeys } from '../keyboard/useListKeys.js';
import { useLongPress } from '../menu/useLongPress.js';
import { filesMessages as messages } from '../messages.js';
import type { Point } from '../selection/rubberBand.js';
import { cursorIndex, type RowKey, type Selection, type SelectionAction } from '../selection/selection.js';
import { useRubberBand } from '../selection/useRubberBand.js';
import styles from './FileList.module.css';
import { FileListHeader } from './FileListHeader.js';
import { FileRow, UpRow } from './FileRow.js';
import { FileSkeletons } from './FileSkeletons.js';
import { entryAt, type Rows, upKey } from './rows.js';
import { useScrollAnchor } from './useScrollAnchor.js';

export const rowHeight = 40;

/** Rows that are rendered beyond the edges, so that fast scrolling shows no gap. */
const overscan = 12;

export interface FileListHandle {
	focusCursor: () => void;
	/** Moves the focus to the list, if nothing else has it. */
	takeFocus: () => void;
	scrollToTop: () => void;
	/** Where a menu opens that was requested by the keyboard. */
	menuPoint: () => Point;
}

export interface FileListProps {
	ref?: Ref<FileListHandle>;
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

/** The list of files: a virtualized ARIA grid. Only the rows on screen and the one with the focus are rendered. */
export function FileList(props: FileListProps) {
	const { ref, folderKey, rows, selection, dispatch, cutKeys, onOpen, onMenu, onCommand, revealed, onRevealed } = props;
	const grid = useRef<HTMLDivElement>(null);
	const scroller = useRef<HTMLDivElement>(null);
	const band = useRef<HTMLDivElement>(null);
	const wantsFocus = useRef(false);
	const hadFocus = useRef(false);
	const count = rows?.keys.length ?? 0;
	const cursor = rows && cursorIndex(selection.cursor, rows);

	const virtualizer = useVirtualizer({
		count,
		getScrollElement: () => scroller.current,
		estimateSize: () => rowHeight,
		overscan,
		// The row with the focus stays rendered when it is scrolled away, or the focus would be lost.
		rangeExtractor: useCallback(
			(range: Parameters<typeof defaultRangeExtractor>[0]) => {
				const rendered = defaultRangeExtractor(range);
				if (cursor === undefined || cursor >= range.count || rendered.includes(cursor)) return rendered;
				return [...rendered, cursor].sort((a, b) => a - b);
			},
			[cursor],
		),
	});

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
			virtualizer.scrollToIndex(index, { align: 'auto' });
		},
		[virtualizer],
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
			takeFocus() {
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
				return { x: box.left + rowHeight, y: Math.min(Math.max(box.top + rowHeight, list.top), list.bottom) };
			},
		}),
		[cursor, rowElement, focusCursor],
	);

	const restored = useRef({ folderKey: '', isDone: false });
	const { scrollTop } = props;
	useLayoutEffect(() => {
		// Also for a folder that was left before its rows came.
		if (restored.current.folderKey !== folderKey) restored.current = { folderKey, isDone: false };
		if (!rows || restored.current.isDone) return;
		restored.current.isDone = true;
		if (scroller.current) scroller.current.scrollTop = scrollTop;
	}, [rows, folderKey, scrollTop]);

	useScrollAnchor(scroller, rows, folderKey, rowHeight);

	useLayoutEffect(() => {
		const index = revealed === undefined ? undefined : rows?.indexOf(revealed);
		if (index === undefined) return;
		virtualizer.scrollToIndex(index, { align: 'auto' });
		onRevealed();
	}, [revealed, rows, virtualizer, onRevealed]);

	const onKeyDown = useListKeys({
		rows,
		selection,
		page: () => Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 1,
		dispatch,
		goTo,
		onOpen,
		onCommand,
	});
	const { onPointerDown: startBand, endsBand } = useRubberBand({
		scroller,
		band,
		rows,
		rowHeight,
		selected: selection.selected,
		dispatch,
	});
	const press = useLongPress((target, at) => onMenu(at, indexOf(target)));

	function click(event: ReactMouseEvent) {
		if (endsBand() || press.endsPress() || !rows || !(event.target instanceof Element)) return;
		const index = indexOf(event.target);
		const key = index === undefined ? undefined : rows.keys[index];
		if (index === undefined || key === undefined) return dispatch({ type: 'cleared' });
		const part = event.target.closest<HTMLElement>('[data-part]')?.dataset.part;
		if (part === 'menu') {
			const box = event.target.getBoundingClientRect();
			return onMenu({ x: box.left, y: box.bottom }, index);
		}
		const at = { key, index };
		const isSelectable = index >= rows.pinned;
		if (event.shiftKey) {
			return dispatch({ type: 'extended', to: at, order: rows, keep: event.ctrlKey || event.metaKey });
		}
		if (event.ctrlKey || event.metaKey || (part === 'type' && isTouch(event))) {
			return isSelectable ? dispatch({ type: 'toggled', at }) : undefined;
		}
		// The second click of a double click would hit whatever the first one has opened.
		if (event.detail > 1) return;
		dispatch({ type: 'opened', at });
		onOpen(index);
	}

	function contextMenu(event: ReactMouseEvent) {
		event.preventDefault();
		// A long press has opened it already.
		if (press.endsPress() || isTouch(event) || !(event.target instanceof Element)) return;
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
			aria-multiselectable
			aria-busy={rows === undefined}
			tabIndex={count === 0 ? 0 : -1}
			className={styles.grid}
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
				onScroll={(event) => props.onScroll(event.currentTarget.scrollTop)}
				onKeyDown={onKeyDown}
				onClick={click}
				onContextMenu={contextMenu}
				{...press.handlers}
				onPointerDown={(event) => {
					press.handlers.onPointerDown(event);
					startBand(event);
				}}
				onDragStart={(event) => {
					const entry = rows && entryAt(rows, indexOf(event.target as Element) ?? -1);
					if (entry) props.onDragStart(event, entry);
				}}
				onDragEnd={props.onDragEnd}
			>
				{rows ? (
					<div role="presentation" className={styles.rows} style={{ height: virtualizer.getTotalSize() }}>
						{virtualizer.getVirtualItems().map(({ index, start }) => {
							const entry = entryAt(rows, index);
							const key = rows.keys[index];
							if (!entry || key === undefined)
								return <UpRow key={`${upKey}${folderKey}`} top={start} isCursor={index === cursor} />;
							return (
								<FileRow
									key={key}
									entry={entry}
									index={index}
									top={start}
									isSelected={selection.selected.has(key)}
									isCut={cutKeys.has(key)}
									isCursor={index === cursor}
									showsFolder={props.showsFolder}
									mayDrag={props.mayDrag(entry)}
								/>
							);
						})}
						<div ref={band} className={styles.band} hidden />
					</div>
				) : (
					<FileSkeletons />
				)}
			</div>
		</div>
	);
}

/** The index of the row that an element belongs to. */
function indexOf(element: Element): number | undefined {
	const index = element.closest<HTMLElement>('[data-index]')?.dataset.index;
	return index === undefined ? undefined : Number(index);
}

function isTouch(event: ReactMouseEvent): boolean {
	return event.nativeEvent instanceof PointerEvent && event.nativeEvent.pointerType === 'touch';
}
