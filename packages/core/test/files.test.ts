import './files/failedChanges.test.js';
import './files/files.test.js';
import './files/folderFeeds.test.js';
import './files/newNames.test.js';
import './files/lending.test.js';
import './files/longNames.test.js';
import './files/concurrentChanges.test.js';
import './links/links.test.js';
import './links/viewerLinks.test.js';
import './responses/listings.test.js';
import './search/searchFaults.test.js';
import './search/searchIndex.test.js';
import './trees/freeSpace.test.js';
import './trees/mountedStorage.test.js';
import './trees/rootLocations.test.js';
import './trees/rootMarker.test.js';
import { atMost } from '../../../test/atMost.js';

atMost(6);
