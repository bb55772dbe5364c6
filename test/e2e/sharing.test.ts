// One process with one browser and one server for all: these cost more to start than most tests.
import './sharing/downloads.test.js';
import './sharing/links.test.js';
import './sharing/members.test.js';
import './sharing/receiving.test.js';
import './sharing/shares.test.js';
import './sharing/sharePage.test.js';
import './sharing/untrusted.test.js';
