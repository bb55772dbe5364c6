import './files/replacing.test.js';
import './files/trash.test.js';
import './files/unrecordedItems.test.js';
import './files/versions.test.js';
import './members/versions.test.js';
import { atMost } from '../../../test/atMost.js';

atMost(6);
