import './members/deepPaths.test.js';
import './members/folderNames.test.js';
import './members/heldAccess.test.js';
import './members/innerRoles.test.js';
import './members/lesserRoles.test.js';
import './members/membersCalls.test.js';
import './members/reading.test.js';
import './members/uploading.test.js';
import './members/writing.test.js';
import { atMost } from '../../../test/atMost.js';

atMost(6);
