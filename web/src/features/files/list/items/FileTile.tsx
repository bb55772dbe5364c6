// biome-ignore-all lint/a11y/useSemanticElements: a virtualized list can't be a table
// biome-ignore-all lint/a11y/useFocusableInteractive: in a grid its rows are focused
import { ArrowUpIcon, LockIcon, PeopleIcon, TickIcon } from '@blueprintjs/icons';
import { type Entry, shownName } from '@stowage/rules';
import { memo } from 'react';
import { typeIcon } from '../../../../ui/display/typeIcons.js';
import { filesMessages as messages } from '../../messages.js';
import { columnIndex, columnsFrom } from '../table.js';
import type { FileItemProps, ParentItemProps } from './FileItem.js';
import styles from './FileTile.module.css';
import { MenuButton } from './MenuButton.js';
import { membersText, tileName, whereOf } from './rowText.js';
import { useThumbnail } from './useThumbnail.js';

/**
 * One entry of the grid. It is a row of one line of the ARIA grid, as in the list, with those of its columns that a tile shows. It
 * has no event handlers either: the list finds the entry of an event by `data-index`.
 */
export const FileTile = memo(Tile) as typeof Tile;

function Tile<E extends Entry>(props: FileItemProps<E>) {
	const { table, ref, entry, thumbnail, index, left, top, isSelected, isCut, isCursor, showsFolder, mayDrag } = props;
	const { Icon, hue } = typeIcon(entry);
	const { picture, fail } = useThumbnail(thumbnail);
	const { head, middle, tail } = tileName(entry.name);
	const where = showsFolder ? whereOf(entry) : undefined;
	const isFolder = entry.type === 'directory';
	const details = table.detailsOf(entry, where);
	return (
		<div
			ref={ref}
			role="row"
			aria-rowindex={index + 2}
			aria-selected={isSelected}
			aria-label={table.labelOf(entry, isCut, where)}
			tabIndex={isCursor ? 0 : -1}
			className={styles.tile}
			data-index={index}
			data-cut={isCut || undefined}
			draggable={mayDrag}
			title={middle === '' ? undefined : shownName(entry.name)}
			style={{ transform: `translate(${left}px, ${top}px)` }}
		>
			<span
				role="gridcell"
				aria-colindex={columnIndex(table, 'type')}
				className={styles.picture}
				data-hue={hue}
				data-drawn={picture !== undefined || undefined}
			>
				{picture === undefined ? (
					<Icon size={isFolder ? 56 : 40} aria-hidden />
				) : (
					<img src={picture} alt="" draggable={false} decoding="async" onError={fail} data-part="thumbnail" />
				)}
				{entry.unreadable && (
					<span className={styles.kind} title={messages.unreadable} data-part="lock">
						<LockIcon size={14} aria-hidden />
					</span>
				)}
				{entry.members !== undefined && (
					<span className={styles.kind} title={membersText(entry.members)} data-part="members">
						<PeopleIcon size={14} aria-hidden />
					</span>
				)}
				{picture !== undefined && hue !== 'picture' && !entry.unreadable && (
					<span className={styles.kind}>
						<Icon size={14} aria-hidden />
					</span>
				)}
			</span>
			<span role="gridcell" aria-colindex={columnIndex(table, 'name')} className={styles.caption}>
				<span className={styles.name} data-part="name">
					<bdi>{head}</bdi>
					{middle !== '' && (
						<>
							<span className={styles.middle}>{middle}</span>
							<bdi className={styles.tail}>{tail}</bdi>
						</>
					)}
				</span>
			</span>
			<span role="gridcell" aria-colindex={columnIndex(table, details.column)} className={styles.details}>
				{details.text}
			</span>
			<span className={styles.check} data-part="check" aria-hidden>
				<TickIcon size={14} />
			</span>
			<span role="gridcell" aria-colindex={columnIndex(table, 'actions')} className={styles.actions}>
				<MenuButton name={entry.name} className={styles.menuButton} />
			</span>
		</div>
	);
}

/** The tile that leads to the folder above. Always first, never selected. */
export const ParentTile = memo(function ParentTile({ table, ref, left, top, isCursor }: ParentItemProps) {
	return (
		<div
			ref={ref}
			role="row"
			aria-rowindex={2}
			aria-label={messages.upDirectory}
			tabIndex={isCursor ? 0 : -1}
			className={styles.tile}
			data-index={0}
			style={{ transform: `translate(${left}px, ${top}px)` }}
		>
			<span role="gridcell" aria-colindex={columnIndex(table, 'type')} className={styles.picture} data-hue="plain">
				<ArrowUpIcon size={40} aria-hidden />
			</span>
			<span
				role="gridcell"
				aria-colindex={columnIndex(table, 'name')}
				aria-colspan={columnsFrom(table, 'name')}
				className={styles.caption}
			>
				<span className={styles.parent}>{messages.upDirectory}</span>
			</span>
		</div>
	);
});
