import test from 'ava';
import { defaultSettings } from '../../src/index.js';

test('By default downloads do not ask and files are previewed', (t) => {
	t.deepEqual(defaultSettings, { promptBeforeDownload: false, enablePreview: true });
});
