import './archives/archiveLimits.test.js';
import './archives/archives.test.js';
import './responses/changedFiles.test.js';
import './responses/endingStreams.test.js';
import './thumbnails/fairness.test.js';
import './thumbnails/fileRenderer.test.js';
import './thumbnails/localFile.test.js';
import './thumbnails/thumbnailCache.test.js';
import './thumbnails/thumbnails.test.js';
import './tickets/ticketLimits.test.js';
import './tickets/tickets.test.js';
import './tickets/transfers.test.js';
import { atMost } from '../../../test/atMost.js';

atMost(6);
