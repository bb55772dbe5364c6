import test from 'ava';
import { copyMany, killWhileCopying } from './manyFiles.js';

test.serial('a folder of 5,000 files is copied with their times, in little memory', copyMany, 5_000);
test.serial(
	'killed in the middle of a copy, the server leaves the source as it was and no copy',
	killWhileCopying,
	2_000,
);
