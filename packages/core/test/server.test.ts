import './audit/audit.test.js';
import './audit/floods.test.js';
import './config/config.test.js';
import './config/reload.test.js';
import './config/secret.test.js';
import './events/eventRelay.test.js';
import './events/notifications.test.js';
import './http/allowedHosts.test.js';
import './http/drain.test.js';
import './http/hostile.test.js';
import './http/http.test.js';
import './http/logSecrets.test.js';

import './http/failureLog.test.js';
import './http/requestScheduler.test.js';
import './http/stopping.test.js';
import './limits/fairQueue.test.js';
import './limits/memoryPool.test.js';
import './plugins/absentPlugins.test.js';
import './plugins/start.test.js';
import { atMost } from '../../../test/atMost.js';

atMost(6);
