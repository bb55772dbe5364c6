import {
	type Area,
	baseName,
	type Clipboard,
	type Entry,
	itemOf,
	parsePath,
	refuseCut,
	refuseUpload,
	rootPath,
	type StoragePath,
	type Viewer,
} from '@stowage/rules';
import { useMemo, useRef, useState } from 'react';
import { DownloadDialog } from '../features/downloads/DownloadDialog.js';
import { useDownloads } from '../features/downloads/useDownloads.js';
import { DialogHost } from '../features/files/dialogs/DialogHost.js';
import { type FileDialog, nameItems } from '../features/files/dialogs/fileDialog.js';
import { useDropFolders } from '../features/files/dragAndDrop/useDropFolders.js';
import { useEntryDrag } from '../features/files/dragAndDrop/useEntryDrag.js';
import { ConnectionNote } from '../features/files/folder/ConnectionNote.js';
import { EmptyList } from '../features/files/folder/EmptyList.js';
import { LoadError } from '../features/files/folder/LoadError.js';
import { useFolder } from '../features/files/folder/useFolder.js';
import { useListing } from '../features/files/folder/useListing.js';
import type { ListCommand } from '../features/files/keyboard/useListKeys.js';
import { usePasteEvent } from '../features/files/keyboard/usePasteEvent.js';
import { FileList, type FileListHandle } from '../features/files/list/FileList.js';
import { entryAt, keyOf, selectedEntries } from '../features/files/list/rows.js';
import { type BrowserLocation, folderKey } from '../features/files/location/location.js';
import { usePlaces } from '../features/files/location/usePlaces.js';
import { useTitle } from '../features/files/location/useTitle.js';
import { ContextMenu } from '../features/files/menu/ContextMenu.js';
import { type Action, menuFor, menuKind } from '../features/files/menu/menu.js';
import { useContextMenu } from '../features/files/menu/useContextMenu.js';
import { filesMessages as messages } from '../features/files/messages.js';
import { useFileActions } from '../features/files/operations/useFileActions.js';
import { useFileOperations } from '../features/files/operations/useFileOperations.js';
import { cursorIndex, type RowKey } from '../features/files/selection/selection.js';
import { TemporaryLinkDialog } from '../features/links/TemporaryLinkDialog.js';
import { useCopyLink } from '../features/links/useCopyLink.js';
import { Toolbar } from '../features/toolbar/Toolbar.js';
import { chooseFolder } from '../features/uploadQueue/choosing/chooseFolder.js';
import { type Chosen, chosenFiles, droppedFiles } from '../features/uploadQueue/choosing/chosenFiles.js';
import { useUploadQueue } from '../features/uploadQueue/useUploadQueue.js';
import { UploadQueueDialog } from '../features/uploadQueue/view/UploadQueueDialog.js';
import { messages as appMessages } from '../messages.js';
import { useFrame } from '../ui/frame.js';
import { useNotify } from '../ui/notifications/useNotify.js';
import styles from './BrowserPage.module.css';

export interface BrowserPageFolderProps {
	location: BrowserLocation;
	viewer: Viewer;
	/** Whether it is known yet who looks at it. */
	isKnown: boolean;
	/** Every download asks first. */
	asksBeforeDownload: boolean;
}

/** One place of the file browser: the toolbar, the list, its menu and its dialogs. */
export function BrowserPageFolder({ location, viewer, isKnown, asksBeforeDownload }: BrowserPageFolderProps) {
	const { area, directory, search, sort } = location;
	const isSignedIn = viewer.kind === 'user';
	const frame = useFrame();
	useTitle(folderName(area, directory));
	const place = usePlaces(location, viewer);
	const folder = useFolder(folderKey(location), place.entry);
	const listing = useListing(location, folder.letter, isKnown ? isSignedIn : undefined);
	const { rows, error } = listing;
	const { selection, select } = folder;
	const selected = useMemo(() => (rows ? selectedEntries(rows, selection.selected) : []), [rows, selection.selected]);

	const list = useRef<FileListHandle>(null);
	const picker = useRef<HTMLInputElement>(null);
	const [dialog, setDialog] = useState<FileDialog>();
	const [clipboard, setClipboard] = useState<Clipboard>();
	const cutKeys = useMemo(() => keysToMove(clipboard, area), [clipboard, area]);

	const operations = useFileOperations({ viewer, area, directory, patch: listing.patch });
	const download = useDownloads(area, directory);
	const perform = useFileActions({
		viewer,
		area,
		directory,
		asksBeforeDownload,
		operations,
		clipboard,
		onClipboard: setClipboard,
		onDialog: setDialog,
		onOpenFolder: (entry) => place.go(parsePath(entry.path)),
		onUploadFiles: () => picker.current?.click(),
		onUploadFolder: () => chooseFolder((chosen) => addFiles(chosen, directory)),
		onSelectAll: () => rows && select({ type: 'all', order: rows }),
		onRefresh: () => void listing.refresh(),
		onDownload: download,
		onCopyLink: useCopyLink(viewer, area),
	});

	const addFiles = useUploads(viewer, location);
	const drag = useEntryDrag(viewer, area, directory);
	usePasteEvent({
		onFiles: (transfer) => addFiles(droppedFiles(transfer), directory),
		onPaste: () => perform('paste', []),
	});
	const isOverPage = useDropFolders({
		viewer,
		area,
		directory,
		rows,
		drag,
		onEntries: (dragged, folderPath) => void operations.dropInto(dragged, folderPath),
		onFiles: (transfer, folderPath) => addFiles(droppedFiles(transfer), folderPath),
	});
	const { menu, ...contextMenu } = useContextMenu({
		rows,
		selection,
		selected,
		select,
		focusList: () => list.current?.focusCursor(),
	});

	function open(index: number) {
		const entry = rows && entryAt(rows, index);
		if (entry) perform('open', [entry]);
		else place.goUp();
	}

	function obey(command: ListCommand) {
		if (command === 'goUp') return place.goUp();
		const index = rows && selection.cursor && cursorIndex(selection.cursor, rows);
		const entry = rows && index !== undefined ? entryAt(rows, index) : undefined;
		if (command === 'menu') {
			const at = list.current?.menuPoint() ?? { x: 0, y: 0 };
			return selected.length > 0 ? contextMenu.openForSelection(at) : contextMenu.openAt(at, entry && index);
		}
		perform(command, selected.length > 0 ? selected : entry ? [entry] : []);
	}

	function show(entry: Entry | undefined): boolean {
		if (!entry) return false;
		const key = keyOf(entry);
		folder.reveal(key);
		select({ type: 'only', at: { key, index: 0 } });
		return true;
	}

	const menuPlace = { viewer, area, directory, isSearch: search !== '', shown: rows?.entries.length ?? 0, clipboard };
	return (
		<div className={styles.page}>
			<h1 className="visually-hidden">{messages.heading(folderName(area, directory))}</h1>
			<Toolbar
				area={area}
				isSignedIn={isSignedIn}
				directory={directory}
				search={search}
				letter={folder.letter}
				results={rows?.entries.length}
				selected={selected.length}
				isMenuOpen={menu !== undefined}
				hrefOf={place.hrefOf}
				onArea={(chosen) => place.go(rootPath, chosen)}
				onSearch={place.search}
				hasList={!error}
				onHome={place.goHome}
				onSettings={frame.openSettings}
				onClearSelection={() => {
					select({ type: 'cleared' });
					list.current?.focusCursor();
				}}
				onActions={(button) => {
					const box = button.getBoundingClientRect();
					contextMenu.openForSelection({ x: box.left, y: box.bottom + 4 });
				}}
				onLetter={(letter) => {
					folder.filter(letter);
					list.current?.scrollToTop();
				}}
			/>
			<ConnectionNote isCutOff={listing.isCutOff} />
			{listing.isTruncated && <p className={styles.note}>{messages.truncated}</p>}
			<div className={styles.list}>
				{error ? (
					<LoadError error={error} onRetry={listing.refresh} onHome={place.goHome} />
				) : (
					<FileList
						ref={list}
						folderKey={folder.key}
						rows={rows}
						sort={sort}
						onSort={(column) => {
							place.sort(column);
							list.current?.scrollToTop();
						}}
						selection={selection}
						dispatch={select}
						cutKeys={cutKeys}
						showsFolder={search !== ''}
						mayDrag={(entry) => !isCoarse && refuseCut(viewer, itemOf(area, entry)) === undefined}
						scrollTop={folder.scrollTop}
						onScroll={folder.onScroll}
						revealed={folder.revealed}
						onRevealed={folder.onRevealed}
						onOpen={open}
						onMenu={contextMenu.openAt}
						onCommand={obey}
						onDragStart={(event, entry) => {
							drag.start(event, selection.selected.has(keyOf(entry)) ? selected : [entry]);
						}}
						onDragEnd={drag.end}
					/>
				)}
				{rows?.entries.length === 0 && !error && (
					<div className={styles.empty}>
						<EmptyList
							search={search}
							letter={folder.letter}
							mayUpload={refuseUpload(viewer, { area, path: directory }) === undefined}
							onShowAll={() => folder.filter('ALL')}
						/>
					</div>
				)}
				{isOverPage && (
					<div className={styles.dropArea}>
						<span className={styles.dropLabel}>{messages.dropHere(folderName(area, directory))}</span>
					</div>
				)}
			</div>
			{menu && (
				<ContextMenu
					label={menuLabel(menu.entries, area, directory)}
					kind={menuKind(menu.entries)}
					groups={menuFor(menuPlace, menu.entries)}
					at={menu.at}
					onClose={contextMenu.close}
					onChoose={(action: Action) => {
						contextMenu.close();
						perform(action, menu.entries);
					}}
				/>
			)}
			<DialogHost
				dialog={dialog}
				onClose={() => setDialog(undefined)}
				onClosed={() => list.current?.takeFocus()}
				onCreateFolder={async (name) => show(await operations.createFolder(name))}
				onRename={async (entry, newName) => show(await operations.rename(entry, newName))}
				onDelete={operations.remove}
				onMove={operations.move}
				showOther={(open, props) =>
					open.kind === 'download' ? (
						<DownloadDialog {...props} {...open} area={area} directory={directory} onDownload={download} />
					) : (
						<TemporaryLinkDialog {...props} entry={open.entry} />
					)
				}
			/>
			<UploadQueueDialog onClosed={() => list.current?.takeFocus()} />
			<input
				ref={picker}
				type="file"
				multiple
				hidden
				onChange={(event) => {
					addFiles(chosenFiles(event.currentTarget.files ?? []), directory);
					// Choosing the same file again is a change too.
					event.currentTarget.value = '';
				}}
			/>
		</div>
	);
}

/** A finger that rests on a name would begin to drag it, where it means the menu. */
const isCoarse = window.matchMedia('(pointer: coarse)').matches;

/** Puts files into the upload queue, to go into a folder, and shows it. */
function useUploads(viewer: Viewer, { area }: BrowserLocation) {
	const queue = useUploadQueue();
	const { notify } = useNotify();
	return (chosen: Chosen | Promise<Chosen>, directory: StoragePath) => {
		const refusal = refuseUpload(viewer, { area, path: directory });
		if (refusal) return void notify({ intent: 'danger', message: refusal.message });
		queue.add(chosen, { area, directory });
		queue.openDialog();
	};
}

function keysToMove(clipboard: Clipboard | undefined, area: Area): ReadonlySet<RowKey> {
	if (clipboard?.operation !== 'cut' || clipboard.sourceArea !== area) return nothing;
	return new Set(clipboard.items.map(keyOf));
}

const nothing: ReadonlySet<RowKey> = new Set();

function folderName(area: Area, directory: StoragePath): string {
	if (directory !== rootPath) return baseName(directory);
	return area === 'private' ? appMessages.privateFiles : appMessages.publicFiles;
}

function menuLabel(entries: readonly Entry[], area: Area, directory: StoragePath): string {
	return entries.length === 0 ? folderName(area, directory) : nameItems(entries);
}
