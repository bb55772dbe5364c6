import test from 'ava';
import { copyMany, killWhileCopying } from './manyFiles.js';

test.serial('a folder of 100,000 files is copied with their times in less than 64 MB of memory', copyMany, 100_000);
test.serial(
	'a server killed in the middle of a copy of 20,000 files leaves the source unchanged and no copy',
	killWhileCopying,
	20_000,
);
