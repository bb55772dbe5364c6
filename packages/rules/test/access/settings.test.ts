import test from 'ava';
import { defaultSettings } from '../../src/index.js';

test('by default downloads start without a prompt and files are previewed', (t) => {
	t.deepEqual(defaultSettings, { promptBeforeDownload: false, enablePreview: true });
});
