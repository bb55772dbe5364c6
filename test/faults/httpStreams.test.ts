import test from 'ava';
import { isEveryday } from '../everyday.js';
import { brokenStreams } from './httpStreams.js';

test(
	'hundreds of streams of broken, cut and pipelined HTTP do not end the server, and leave nothing open',
	brokenStreams,
	isEveryday ? 200 : 800,
);
