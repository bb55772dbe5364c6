// What is read in the sources and in the docs; one process for all, which costs more to start than most of these tests.
import './documentedCommands.test.js';
import './imports.test.js';
import './pageReads.test.js';
import './shellCommands.test.js';
