import type { Config } from '../config/schema.js';
import type { Log } from '../log.js';
import type { FolderFeeds } from '../trees/feeds/FolderFeeds.js';
import type { MountedStorage } from '../trees/MountedStorage.js';
import type { Trees } from '../trees/Trees.js';
import type { TrashBin } from '../trees/trash/TrashBin.js';
import type { ItemWatcher } from './itemWatcher.js';
import type { PublishedNames } from './publishing.js';

/** What the calls on files work with. */
export interface FileParts extends Pick<Config, 'publicListing'> {
	trees: Trees;
	/** Throws until it is open. */
	storage(): MountedStorage;
	feeds: FolderFeeds;
	watcher: ItemWatcher;
	trash: TrashBin;
	names: PublishedNames;
	log: Log;
	temporaryFolder: string;
}
