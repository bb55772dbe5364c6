import './audit.test.js';
import './configInit.test.js';
import './docs.test.js';
import './doctor.test.js';
import './moveRoot.test.js';
import './nestedShares.test.js';
import './progress.test.js';
import './public.test.js';
import './roots.test.js';
import './stowage.test.js';
import './table.test.js';
import './upload.test.js';
import './users.test.js';
import './waitingConnections.test.js';
import { atMost } from '../../test/atMost.js';

atMost(4);
