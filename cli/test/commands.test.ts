import './audit.test.js';
import './docs.test.js';
import './doctor.test.js';
import './moveRoot.test.js';
import './progress.test.js';
import './public.test.js';
import './roots.test.js';
import './stowage.test.js';
import './users.test.js';
import { atMost } from '../../test/atMost.js';

atMost(4);
