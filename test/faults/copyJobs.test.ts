import test from 'ava';
import { copyAcrossKill } from './copyJobs.js';

test.serial(
	'a copy job of 2,500 files continues after a kill of the server, and keeps its durable files',
	copyAcrossKill,
	2_500,
);
