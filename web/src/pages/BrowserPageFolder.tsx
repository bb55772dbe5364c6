import { type Area, type Entry, extensionOf, hasThumbnail, type UserSettings, type Viewer } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { type Capabilities, capabilitiesQuery } from '../api/capabilities.js';
import { thumbnailUrl } from '../api/downloads.js';
import { useBackgroundConversions } from '../features/conversion/useBackgroundConversions.js';
import { useMayConvert } from '../features/conversion/useMayConvert.js';
import { useRefreshAfterConversion } from '../features/conversion/useRefreshAfterConversion.js';
import { DownloadDialog } from '../features/downloads/DownloadDialog.js';
import { useDownloads } from '../features/downloads/useDownloads.js';
import { FileDialogs } from '../features/files/dialogs/FileDialogs.js';
import { useDropFolders } from '../features/files/dragAndDrop/useDropFolders.js';
import { useEntryDrag } from '../features/files/dragAndDrop/useEntryDrag.js';
import { ConnectionNote } from '../features/files/folder/ConnectionNote.js';
import { EmptyList } from '../features/files/folder/EmptyList.js';
import { LoadError } from '../features/files/folder/LoadError.js';
import { useFolderView } from '../features/files/folder/useFolderView.js';
import { useRefreshNotice } from '../features/files/folder/useRefreshNotice.js';
import { listCommands } from '../features/files/keyboard/listCommands.js';
import { usePasteEvent } from '../features/files/keyboard/usePasteEvent.js';
import { FileList, type FileListHandle } from '../features/files/list/FileList.js';
import { folderName, useTitle } from '../features/files/location/folderTitle.js';
import type { BrowserLocation } from '../features/files/location/location.js';
import { useBrowserNavigation } from '../features/files/location/useBrowserNavigation.js';
import { ContextMenu } from '../features/files/menu/ContextMenu.js';
import { useContextMenu } from '../features/files/menu/useContextMenu.js';
import { filesMessages as messages } from '../features/files/messages.js';
import { useFileActions } from '../features/files/operations/useFileActions.js';
import { useFileOperations } from '../features/files/operations/useFileOperations.js';
import { TemporaryLinkDialog } from '../features/links/TemporaryLinkDialog.js';
import { useCopyLink } from '../features/links/useCopyLink.js';
import { PreviewPanel } from '../features/previews/panel/PreviewPanel.js';
import { FilePicker } from '../features/uploadQueue/choosing/FilePicker.js';
import { UploadQueueDialog } from '../features/uploadQueue/view/UploadQueueDialog.js';
import { lazyComponent } from '../ui/lazyComponent.js';
import { useView } from '../ui/useView.js';
import styles from './BrowserPage.module.css';
import { BrowserToolbar } from './BrowserToolbar.js';
import { useFolderUploads } from './useFolderUploads.js';

const ConvertDialog = lazyComponent(
	async () => (await import('../features/conversion/ConvertDialog.js')).ConvertDialog,
);

export interface BrowserPageFolderProps {
	location: BrowserLocation;
	viewer: Viewer;
	/** False until the session was checked. */
	isKnown: boolean;
	settings: UserSettings;
}

/** One location of the file browser. It only connects the features: each of its hooks does one thing. */
export function BrowserPageFolder({ location, viewer, isKnown, settings }: BrowserPageFolderProps) {
	const { area, directory } = location;
	const place = { viewer, area, directory };
	const isSignedIn = viewer.kind === 'user';
	const isSearch = location.search !== '';
	const name = folderName(area, directory);
	const list = useRef<FileListHandle>(null);
	const [previewed, setPreviewed] = useState<Entry>();
	const [view, setView] = useView();
	const { data: capabilities } = useQuery(capabilitiesQuery);
	const takeFocus = () => list.current?.focusIfUnfocused();

	useTitle(name);
	const navigation = useBrowserNavigation(location, viewer);
	const folder = useFolderView(location, navigation.arrival, isKnown ? isSignedIn : undefined);
	useRefreshNotice(folder);
	const uploads = useFolderUploads(viewer, location);
	const download = useDownloads(area, directory);
	const operations = useFileOperations({ ...place, patch: folder.patch, show: folder.show });
	const refreshAfterConversion = useRefreshAfterConversion(area);
	const pollConversions = useBackgroundConversions(refreshAfterConversion);
	const actions = useFileActions({
		...place,
		folder,
		operations,
		asksBeforeDownload: settings.promptBeforeDownload,
		enablesPreview: settings.enablePreview,
		preview: setPreviewed,
		openFolder: navigation.goTo,
		uploadFiles: uploads.chooseFiles,
		uploadFolder: uploads.chooseFolder,
		download,
		copyLink: useCopyLink(viewer, area),
		mayConvert: useMayConvert(),
	});
	const menu = useContextMenu({
		...place,
		...actions,
		folder,
		isSearch,
		focusList: () => list.current?.focusCursor(),
	});
	const [openIn, setOpenIn] = useState(folder.key);
	if (openIn !== folder.key) {
		// Back or Forward was pressed: what is open belongs to the folder that is left. Conversions that run are followed everywhere.
		setOpenIn(folder.key);
		setPreviewed(undefined);
		menu.dismiss();
		if (actions.dialog?.kind !== 'convert') actions.closeDialog();
	}
	const commands = listCommands({
		folder,
		menu,
		menuPoint: () => list.current?.menuPoint() ?? { x: 0, y: 0 },
		goUp: navigation.goUp,
		perform: actions.perform,
	});
	const drag = useEntryDrag({ ...place, folder });
	const isOverPage = useDropFolders({
		...place,
		rows: folder.rows,
		drag,
		onEntries: operations.dropInto,
		onFiles: uploads.addTransfer,
	});
	usePasteEvent({ onFiles: uploads.addTransfer, onPaste: () => actions.perform('paste', []) });

	return (
		<div className={styles.page}>
			<h1 className="visually-hidden">{messages.heading(name)}</h1>
			<BrowserToolbar
				location={location}
				isSignedIn={isSignedIn}
				navigation={navigation}
				folder={folder}
				menu={menu}
				list={list}
				view={view}
				onView={setView}
			/>
			<ConnectionNote isOffline={folder.isOffline} />
			{folder.isTruncated && <p className={styles.note}>{messages.truncated}</p>}
			{folder.isIncomplete && <p className={styles.note}>{messages.missing}</p>}
			<div className={styles.list}>
				{folder.error ? (
					<LoadError error={folder.error} onRetry={folder.refresh} onHome={navigation.goHome} />
				) : (
					<FileList
						ref={list}
						view={view}
						folder={folder}
						sort={location.sort}
						onSort={navigation.sort}
						cutKeys={actions.cutKeys}
						showsFolder={isSearch}
						thumbnailOf={(entry) => capabilities && thumbnailOf(area, entry, capabilities)}
						drag={drag}
						commands={commands}
					/>
				)}
				{folder.rows?.entries.length === 0 && !folder.error && (
					<div className={styles.empty}>
						<EmptyList
							search={location.search}
							letter={folder.letter}
							mayUpload={uploads.mayUpload}
							onShowAll={() => folder.filter('ALL')}
						/>
					</div>
				)}
				{isOverPage && (
					<div className={styles.dropArea}>
						<span className={styles.dropLabel}>{messages.dropHere(name)}</span>
					</div>
				)}
			</div>
			{menu.props && <ContextMenu {...menu.props} />}
			<FileDialogs
				dialog={actions.dialog}
				operations={operations}
				onClose={actions.closeDialog}
				onClosed={takeFocus}
				renderOther={(dialog, props) => {
					switch (dialog.kind) {
						case 'download':
							return <DownloadDialog {...props} {...dialog} area={area} directory={directory} onDownload={download} />;
						case 'temporaryLink':
							return <TemporaryLinkDialog {...props} entry={dialog.entry} />;
						case 'convert':
							return (
								<ConvertDialog
									{...props}
									area={area}
									videos={dialog.entries}
									onConverted={refreshAfterConversion}
									onContinue={pollConversions}
									onLoadFailed={() => {
										props.onClose();
										props.onClosed();
									}}
								/>
							);
					}
				}}
			/>
			<PreviewPanel
				area={area}
				entry={previewed}
				entries={folder.rows?.entries ?? []}
				onShow={setPreviewed}
				onClose={() => setPreviewed(undefined)}
				onClosed={takeFocus}
			/>
			<UploadQueueDialog onClosed={takeFocus} />
			<FilePicker ref={uploads.picker} onChoose={uploads.add} />
		</div>
	);
}

function thumbnailOf(area: Area, entry: Entry, offered: Capabilities): string | undefined {
	const { thumbnails, thumbnailExtensions } = offered;
	if (entry.type !== 'file' || !thumbnails) return undefined;
	const isOffered = hasThumbnail(entry.name) || thumbnailExtensions.includes(extensionOf(entry.name));
	return isOffered ? thumbnailUrl(area, entry, 256) : undefined;
}
