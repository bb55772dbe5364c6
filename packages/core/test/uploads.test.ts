import './uploads/boundarySearch.test.js';
import './uploads/equalNames.test.js';
import './uploads/fileDigest.test.js';
import './uploads/finishedUploads.test.js';
import './uploads/forms.test.js';
import './uploads/interrupted.test.js';
import './uploads/replacingUploads.test.js';
import './uploads/resumable.test.js';
import './uploads/takenOver.test.js';
import './uploads/tusJsClient.test.js';
import './uploads/uploadKeys.test.js';
import './uploads/uploadLimits.test.js';
import { atMost } from '../../../test/atMost.js';

atMost(6);
