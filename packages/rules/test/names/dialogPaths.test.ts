import test from 'ava';
import { dialogPaths, plural } from '../../src/index.js';

const paths = (count: number) => Array.from({ length: count }, (_, index) => `${index}.txt`);

test('up to five paths are all shown', (t) => {
	t.deepEqual(dialogPaths(paths(5)), paths(5));
	t.deepEqual(dialogPaths([]), []);
});

test('of more than five paths the first five are shown and the rest counted', (t) => {
	t.deepEqual(dialogPaths(paths(6)), [...paths(5), '…and 1 more']);
	t.deepEqual(dialogPaths(paths(105)), [...paths(5), '…and 100 more']);
});

test('a count of one is singular, any other plural', (t) => {
	t.is(plural(0, 'file'), '0 files');
	t.is(plural(1, 'file'), '1 file');
	t.is(plural(2, 'file'), '2 files');
	t.is(plural(2, 'entry', 'entries'), '2 entries');
});
