// One process with one browser and one server for all: these cost more to start than most tests.
import './uploads/conflicts.test.js';
import './uploads/proxy.test.js';
import './uploads/quota.test.js';
import './uploads/resume.test.js';
import './uploads/uploads.test.js';
