import test from 'ava';
import { setUpFixture } from '../e2e/support/fileManager.js';
import { uploadMany } from '../e2e/support/uploads.js';

const fixture = setUpFixture(test);

test.serial('two thousand small files are uploaded complete through one queue of a page', (t) =>
	uploadMany(t, fixture, 2000),
);
