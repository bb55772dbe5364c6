import test from 'ava';
import { brokenStreams } from './httpStreams.js';

test('100,000 streams of broken, cut and pipelined HTTP', brokenStreams, 100_000);
