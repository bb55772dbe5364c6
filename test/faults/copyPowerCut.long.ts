import test from 'ava';
import { cutPowerWhileCopying } from './copyPowerCut.js';

test.serial(
	'after a power cut a copy goes on with what was durable, and ends whole',
	cutPowerWhileCopying,
	5_000,
	4_200,
);
