import './contention.test.js';
import './damage.test.js';
import './durability.test.js';
import './locks.test.js';
import './migrations.test.js';
import './cachedRows.test.js';
import './sqlite.test.js';
import './target.test.js';
import { atMost } from '../../../test/atMost.js';

atMost(6);
