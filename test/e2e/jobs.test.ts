// One process with one browser and one server for all: these cost more to start than most tests.
import './jobs/activity.test.js';
import './jobs/conversion.test.js';
import './jobs/conversionDialog.test.js';
import './jobs/paste.test.js';
