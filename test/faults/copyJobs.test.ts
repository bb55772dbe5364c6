import test from 'ava';
import { goOnAfterKill } from './copyJobs.js';

test.serial(
	'a copy of 2,500 files goes on after the server was killed, with what was durable of it',
	goOnAfterKill,
	2_500,
);
