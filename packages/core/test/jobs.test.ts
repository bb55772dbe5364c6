import './jobs/calls.test.js';
import './jobs/checkpoints.test.js';
import './jobs/jobs.test.js';
import './jobs/uncleanEnds.test.js';
import './leases/leases.test.js';
import './leases/sweep.test.js';
import './moving/homeMoves.test.js';
import './pasting/manyItems.test.js';
import './pasting/pasting.test.js';
import './pasting/pastingCalls.test.js';
import { atMost } from '../../../test/atMost.js';

atMost(6);
