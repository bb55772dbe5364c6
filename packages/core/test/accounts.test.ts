import './accounts/accounts.test.js';
import './accounts/changesAtOnce.test.js';
import './accounts/changesMeanwhile.test.js';
import './accounts/cookies.test.js';
import './accounts/failedSignIns.test.js';
import './accounts/fullDatabase.test.js';
import './accounts/homesOnDisk.test.js';
import './accounts/passwordRaces.test.js';
import './accounts/removals.test.js';
import './accounts/renaming.test.js';
import './accounts/secondFactors.test.js';
import './accounts/sessions.test.js';
import './accounts/signInLimits.test.js';
import './accounts/visitors.test.js';
import './quotas/quotas.test.js';
import './quotas/unfinishedUploads.test.js';
import { atMost } from '../../../test/atMost.js';

atMost(6);
