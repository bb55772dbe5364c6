import { TrashIcon } from '@blueprintjs/icons';
import { rootPath, type StoragePath } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { capabilitiesQuery } from '../api/capabilities.js';
import { ConnectionNote } from '../features/files/folder/ConnectionNote.js';
import { LoadError } from '../features/files/folder/LoadError.js';
import { useRefreshNotice } from '../features/files/folder/useRefreshNotice.js';
import { type EntryCommand, listCommands } from '../features/files/keyboard/listCommands.js';
import { FileList, type FileListHandle } from '../features/files/list/FileList.js';
import { useTitle } from '../features/files/location/folderTitle.js';
import { folderHref } from '../features/files/location/location.js';
import { ContextMenu } from '../features/files/menu/ContextMenu.js';
import type { TrashAction } from '../features/files/menu/menu.js';
import { useContextMenu } from '../features/files/menu/useContextMenu.js';
import { cursorAt } from '../features/files/selection/selection.js';
import { keptFor } from '../features/files/trash/keptFor.js';
import { trashMessages } from '../features/files/trash/messages.js';
import { type TrashDialog, TrashDialogs } from '../features/files/trash/TrashDialogs.js';
import {
	defaultTrashOrder,
	parseTrashOrder,
	type TrashedEntry,
	toggleTrashOrder,
	trashCount,
	trashOrderText,
} from '../features/files/trash/trashEntries.js';
import { trashMenuFor } from '../features/files/trash/trashMenu.js';
import { trashTable } from '../features/files/trash/trashTable.js';
import { useTrash } from '../features/files/trash/useTrash.js';
import { useTrashOperations } from '../features/files/trash/useTrashOperations.js';
import { useUndo } from '../features/files/undo/useUndo.js';
import { TrashToolbar } from '../features/toolbar/TrashToolbar.js';
import { EmptyState } from '../ui/display/EmptyState.js';
import { useScopedState } from '../ui/useScopedState.js';
import { useView } from '../ui/useView.js';
import styles from './BrowserPage.module.css';
import content from './FolderContent.module.css';

/** The trash of a user, who is undefined until the session is known. It only connects the features. */
export function TrashPageContent({ username }: { username: string | undefined }) {
	const navigate = useNavigate();
	const [query, setQuery] = useSearchParams();
	const list = useRef<FileListHandle>(null);
	const [view, setView] = useView();
	const keepFor = useQuery(capabilitiesQuery).data?.trashKeepFor;
	const order = parseTrashOrder(query.get('sort') ?? '') ?? defaultTrashOrder;

	useTitle(trashMessages.trash);
	const trash = useTrash(username, order);
	useRefreshNotice(trash);
	const operations = useTrashOperations(trash, (directory: StoragePath, path: string) =>
		navigate(folderHref('private', directory), { state: { start: path, isStartSelected: true } }),
	);
	const { undoLast } = useUndo(username);
	const [dialog, setDialog] = useScopedState<TrashDialog>(trash.key);
	const items = trash.rows?.entries.length;
	const openEmpty = () =>
		setDialog({ kind: 'empty', items: trashCount(items ?? 0, trash.isTruncated), size: trash.size });

	const perform = (action: TrashAction, entries: readonly TrashedEntry[]) => {
		switch (action) {
			case 'restore':
				return void (entries.length > 0 && operations.restore(entries));
			case 'deleteForever':
				return void (entries.length > 0 && setDialog({ kind: 'deleteForever', entries }));
			case 'emptyTrash':
				return openEmpty();
			case 'selectAll':
				return void (trash.rows && trash.select({ type: 'all', order: trash.rows }));
			case 'refresh':
				return void trash.refresh();
			default:
				return action satisfies never;
		}
	};
	const menu = useContextMenu({
		folder: trash,
		name: trashMessages.trash,
		groupsFor: (entries) => trashMenuFor(entries.length, items ?? 0),
		perform,
		focusList: () => list.current?.focusCursor(),
	});
	const commands = {
		...listCommands({
			folder: trash,
			menu,
			menuPoint: () => list.current?.menuPoint() ?? { x: 0, y: 0 },
			undo: undoLast,
			// They have no meaning for what is in the trash.
			missing: ['preview', 'rename', 'convert', 'cut', 'copy'],
			perform: (command: EntryCommand, entries: readonly TrashedEntry[]) => {
				if (command === 'delete' || command === 'deleteForever') perform('deleteForever', entries);
			},
		}),
		// What is in the trash can't be opened: a click or Enter selects it alone.
		open: (index: number) => {
			const at = trash.rows && cursorAt(trash.rows, index);
			if (at) trash.select({ type: 'only', at });
		},
	};

	return (
		<div className={styles.page}>
			<TrashToolbar
				note={
					keepFor === undefined
						? ''
						: keepFor > 0
							? trashMessages.trashKeptFor(keptFor(keepFor))
							: trashMessages.noTrash
				}
				items={items}
				size={trash.size}
				selected={trash.selected.length}
				hasList={!trash.error}
				view={view}
				onView={setView}
				onRestore={() => perform('restore', trash.selected)}
				onDeleteForever={() => perform('deleteForever', trash.selected)}
				onEmpty={openEmpty}
				onClearSelection={() => {
					trash.select({ type: 'cleared' });
					list.current?.focusCursor();
				}}
			/>
			<ConnectionNote isOffline={trash.isOffline} />
			{trash.isTruncated && <p className={content.note}>{trashMessages.trashTruncated}</p>}
			<div className={content.list}>
				{trash.error ? (
					<LoadError
						error={trash.error}
						onRetry={() => void trash.refresh()}
						onHome={() => navigate(folderHref('private', rootPath))}
					/>
				) : (
					<FileList
						ref={list}
						table={trashTable}
						view={view}
						folder={trash}
						sort={order}
						onSort={(column) => setQuery({ sort: trashOrderText(toggleTrashOrder(order, column)) }, { replace: true })}
						commands={commands}
					/>
				)}
				{items === 0 && (
					<div className={content.empty}>
						<EmptyState
							icon={<TrashIcon size={32} />}
							title={trashMessages.trashEmpty}
							detail={keepFor === 0 ? trashMessages.noTrash : trashMessages.trashEmptyHint}
						/>
					</div>
				)}
			</div>
			{menu.props && <ContextMenu {...menu.props} />}
			<TrashDialogs
				dialog={dialog}
				operations={operations}
				onClose={() => setDialog(undefined)}
				onClosed={() => list.current?.focusIfUnfocused()}
			/>
		</div>
	);
}
