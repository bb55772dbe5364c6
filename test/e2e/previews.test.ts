// One process with one browser and one server for all: these cost more to start than most tests.
import './previews/accessibility.test.js';
import './previews/books.test.js';
import './previews/editor.test.js';
import './previews/external.test.js';
import './previews/frame.test.js';
import './previews/images.test.js';
import './previews/media.test.js';
import './previews/panel.test.js';
import './previews/pdfs.test.js';
import './previews/texts.test.js';
import './previews/withoutPlugin.test.js';
