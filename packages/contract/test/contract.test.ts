// All of these tests run in one process.
import './isEntry.test.js';
import './listOf.test.js';
