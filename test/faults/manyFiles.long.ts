import test from 'ava';
import { copyMany, killWhileCopying } from './manyFiles.js';

test.serial('a folder of 100,000 files is copied with their times, in little memory', copyMany, 100_000);
test.serial('killed in the middle of a copy of 20,000 files', killWhileCopying, 20_000);
