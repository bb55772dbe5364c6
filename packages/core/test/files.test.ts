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
import './storage/freeSpace.test.js';
import './storage/mountedStorage.test.js';
import './storage/rootLocations.test.js';
import './storage/rootMarker.test.js';
import { atMost } from '../../../test/atMost.js';

atMost(6);
