// One process with one browser and one server for all: these cost more to start than most tests.
import './files/accessibility.test.js';
import './files/alreadyThere.test.js';
import './files/grid.test.js';
import './files/liveUpdates.test.js';
import './files/navigation.test.js';
import './files/operations.test.js';
import './files/search.test.js';
import './files/selection.test.js';
import './files/trash.test.js';
import './files/undo.test.js';
import './files/versions.test.js';
