import './files/failedChanges.test.js';
import './files/files.test.js';
import './files/folderFeeds.test.js';
import './files/givenNames.test.js';
import './files/lending.test.js';
import './files/longNames.test.js';
import './files/overtaken.test.js';
import './links/links.test.js';
import './links/viewerLinks.test.js';
import './responses/listings.test.js';
import './storage/freeSpace.test.js';
import './storage/mountedStorage.test.js';
import './storage/rootLocations.test.js';
import { atMost } from '../../../test/atMost.js';

atMost(6);
