// biome-ignore-all lint/a11y/useSemanticElements: a virtualized list can't be a table
// biome-ignore-all lint/a11y/useFocusableInteractive: in a grid its rows are focused, and the buttons of its headers
import { ArrowUpIcon, LockIcon, TickIcon } from '@blueprintjs/icons';
import { type Entry, formatDate, formatListSize, formatTime } from '@stowage/rules';
import { memo } from 'react';
import { filesMessages as messages } from '../messages.js';
import styles from './FileList.module.css';
import { MenuButton } from './MenuButton.js';
import { folderOf, nameParts, rowLabel } from './rowText.js';
import { typeIcon } from './typeIcons.js';

export interface FileItemProps {
	entry: Entry;
	/** The URL of its thumbnail, for the grid. */
	thumbnail: string | undefined;
	index: number;
	left: number;
	top: number;
	/** It has the cursor: the one row that the Tab key reaches. */
	isCursor: boolean;
	isSelected: boolean;
	/** It was cut. */
	isCut: boolean;
	/** Shows the folder of the entry, for search results. */
	showsFolder: boolean;
	mayDrag: boolean;
}

/**
 * One entry of the list. It has no event handlers: the list finds the row of an event by `data-index`. So a row is rendered
 * again only when its properties have changed.
 */
export const FileRow = memo(function FileRow(props: FileItemProps) {
	const { entry, index, top, isSelected, isCut, isCursor, showsFolder, mayDrag } = props;
	const { Icon, hue, label } = typeIcon(entry);
	const { head, tail } = nameParts(entry.name);
	const folder = showsFolder ? folderOf(entry) : '';
	const where = folder === '' ? undefined : messages.in(folder);
	return (
		<div
			role="row"
			aria-rowindex={index + 2}
			aria-selected={isSelected}
			aria-label={rowLabel(entry, isCut ? `${label}, cut` : label, where)}
			tabIndex={isCursor ? 0 : -1}
			className={styles.row}
			data-index={index}
			data-cut={isCut || undefined}
			style={{ transform: `translateY(${top}px)` }}
		>
			<span role="gridcell" className={styles.type} data-part="type" data-hue={hue}>
				{isSelected ? <TickIcon size={16} aria-hidden /> : <Icon size={16} aria-hidden />}
			</span>
			<span role="gridcell" className={styles.nameCell}>
				<span
					className={styles.name}
					data-part="name"
					draggable={mayDrag}
					title={entry.name.length > 32 ? entry.name : undefined}
				>
					<bdi className={styles.nameHead}>{head}</bdi>
					{tail !== '' && <span className={styles.nameTail}>{tail}</span>}
				</span>
				{entry.unreadable && (
					<span className={styles.lock} title={messages.unreadable} data-part="lock">
						<LockIcon size={14} aria-hidden />
					</span>
				)}
				{entry.owner && <span className={styles.owner}>{entry.owner}</span>}
				{where !== undefined && <span className={styles.where}>{where}</span>}
			</span>
			<span role="gridcell" className={styles.count}>
				{entry.unreadable ? '' : entry.count?.toLocaleString('en-US')}
			</span>
			<span role="gridcell" className={styles.size}>
				{entry.type === 'file' ? formatListSize(entry.size) : ''}
			</span>
			<span role="gridcell" className={styles.date}>
				{formatDate(entry.mtime)}
			</span>
			<span role="gridcell" className={styles.time}>
				{formatTime(entry.mtime)}
			</span>
			<span role="gridcell" className={styles.actions}>
				<MenuButton name={entry.name} className={styles.menuButton} />
			</span>
		</div>
	);
});

export interface ParentItemProps {
	left: number;
	top: number;
	isCursor: boolean;
}

/** The row that leads to the folder above. Always first, never selected. */
export const ParentRow = memo(function ParentRow({ top, isCursor }: ParentItemProps) {
	return (
		<div
			role="row"
			aria-rowindex={2}
			aria-label={messages.upDirectory}
			tabIndex={isCursor ? 0 : -1}
			className={styles.row}
			data-index={0}
			style={{ transform: `translateY(${top}px)` }}
		>
			<span role="gridcell" className={styles.type} data-hue="plain">
				<ArrowUpIcon size={16} aria-hidden />
			</span>
			<span role="gridcell" className={styles.nameCell} aria-colspan={6}>
				<span className={styles.up}>{messages.upDirectory}</span>
			</span>
		</div>
	);
});
