import './atomicChanges.test.js';
import './mysql.test.js';
