import type { PublishedNameStore } from '@stowage/plugin-api';
import type { Config } from '../config/schema.js';
import type { Log } from '../log.js';
import type { SearchIndex } from '../search/SearchIndex.js';
import type { FolderFeeds } from '../trees/feeds/FolderFeeds.js';
import type { MountedStorage } from '../trees/storage/MountedStorage.js';
import type { Trees } from '../trees/Trees.js';
import type { TrashBin } from '../trees/trash/TrashBin.js';
import type { Versions } from '../trees/trash/versions/Versions.js';
import type { ItemTracker } from './itemTracker.js';

/** Where the other name is recorded that a file is about to get instead of the one it wished. */
export type PublishedNames = Pick<PublishedNameStore, 'set' | 'find'>;

/** What the calls on files work with. */
export interface FileParts extends Pick<Config, 'publicListing'> {
	trees: Trees;
	/** Throws until it is open. */
	storage(): MountedStorage;
	feeds: FolderFeeds;
	tracker: ItemTracker;
	trash: TrashBin;
	versions: Versions;
	index: Pick<SearchIndex, 'scope' | 'distrust' | 'failed'>;
	names: PublishedNames;
	log: Log;
	temporaryFolder: string;
}
