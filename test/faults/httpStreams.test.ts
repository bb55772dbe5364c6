import test from 'ava';
import { brokenStreams } from './httpStreams.js';

test('800 streams of broken, cut and pipelined HTTP do not end the server, and leave nothing open', brokenStreams, 800);
