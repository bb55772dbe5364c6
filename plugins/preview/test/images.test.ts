// One process for all: it costs more to start than these tests.
import './exceedsItsPixels.test.js';
import './imageFormat.test.js';
import './keepFirstFrame.test.js';
import './mayApplyProfile.test.js';
import './minimizeMetadata.test.js';
import './readsTwice.test.js';
