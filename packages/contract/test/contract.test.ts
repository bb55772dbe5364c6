// One process for all.
import './isEntry.test.js';
import './listOf.test.js';
