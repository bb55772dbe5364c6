import './shares/counting.test.js';
import './shares/exchangedFolder.test.js';
import './shares/guests.test.js';
import './shares/ownersCalls.test.js';
import './shares/receiving.test.js';
import './shares/shareEvents.test.js';
import './shares/sharePreview.test.js';
import { atMost } from '../../../test/atMost.js';

atMost(6);
