import test from 'ava';
import { cutPowerWhileCopying } from './copyPowerCut.js';

test.serial(
	'a copy continues after a power cut with its durable files, and is complete in the end',
	cutPowerWhileCopying,
	5_000,
	4_200,
);
