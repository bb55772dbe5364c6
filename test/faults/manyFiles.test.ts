import test from 'ava';
import { copyMany, killWhileCopying } from './manyFiles.js';

test.serial('a folder of 5,000 files is copied with their times in less than 64 MB of memory', copyMany, 5_000);
test.serial('a server killed in the middle of a copy leaves the source unchanged and no copy', killWhileCopying, 2_000);
