import { type Area, type Entry, rootPath, type SortColumn, shownName, sortOrder } from '@stowage/rules';
import { isSearch } from '../api/listings/search.js';
import { ConnectionNote } from '../features/files/folder/ConnectionNote.js';
import { EmptyList } from '../features/files/folder/EmptyList.js';
import { LoadError } from '../features/files/folder/LoadError.js';
import type { FolderView } from '../features/files/folder/useFolderView.js';
import { folderTable } from '../features/files/list/columns.js';
import { FileList, type FileListProps } from '../features/files/list/FileList.js';
import type { FolderLocation } from '../features/files/location/location.js';
import type { FolderNavigation } from '../features/files/location/useBrowserNavigation.js';
import { filesMessages as messages } from '../features/files/messages.js';
import styles from './FolderContent.module.css';

export interface FolderContentProps
	extends Omit<FileListProps<Entry, SortColumn>, 'folder' | 'table' | 'sort' | 'onSort' | 'showsFolder'> {
	folder: FolderView;
	location: FolderLocation;
	navigation: Pick<FolderNavigation, 'goHome' | 'sort'>;
	/** The area of the folder; undefined for a share's. */
	area?: Area;
	/** How files come into the folder while it is empty. */
	uploadHint?: string | undefined;
	/** The name of the folder, while files are being dragged over the page that would go into it. */
	dropsInto?: string | undefined;
}

/** The list of the folder, or why there is none. */
export function FolderContent(props: FolderContentProps) {
	const { location, navigation, area, uploadHint, dropsInto, ...list } = props;
	const { folder } = list;
	const sort = sortOrder(location.sort);
	return (
		<>
			<ConnectionNote isOffline={folder.isOffline} />
			{folder.isTruncated && <p className={styles.note}>{messages.truncated}</p>}
			{folder.isIncomplete && <p className={styles.note}>{messages.missing}</p>}
			<div className={styles.list}>
				{folder.error ? (
					<LoadError error={folder.error} area={area} onRetry={folder.refresh} onHome={navigation.goHome} />
				) : (
					<FileList
						{...list}
						table={folderTable}
						sort={sort}
						onSort={navigation.sort}
						showsFolder={isSearch(location)}
					/>
				)}
				{folder.rows?.entries.length === 0 && !folder.error && (
					<div className={styles.empty}>
						<EmptyList
							search={location.search}
							filters={location.filters}
							letter={folder.letter}
							uploadHint={uploadHint}
							isSharedRoot={area === 'shared' && location.directory === rootPath}
							onShowAll={() => folder.filter('ALL')}
						/>
					</div>
				)}
				{dropsInto !== undefined && (
					<div className={styles.dropArea}>
						<span className={styles.dropLabel}>{messages.dropHere(shownName(dropsInto))}</span>
					</div>
				)}
			</div>
		</>
	);
}
