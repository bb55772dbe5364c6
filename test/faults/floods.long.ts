import test from 'ava';
import { flood } from './floods.js';

const seconds = 30;

test.serial(
	'other clients are answered and memory stays bounded during a flood of ZIPs with a thousand times the whole area',
	flood,
	'roots',
	seconds,
);
test.serial(
	'other clients are answered and memory stays bounded during a flood of ZIPs of a thousand nested items',
	flood,
	'nested',
	seconds,
);
test.serial(
	'other clients are answered and memory stays bounded during a flood of 40 pipelined unread downloads on 25 connections',
	flood,
	'pipelines',
	seconds,
);
test.serial(
	'other clients are answered and memory stays bounded during a flood of JSON bodies of 15 MB on 120 connections',
	flood,
	'bodies',
	seconds,
);
test.serial(
	'other clients are answered and memory stays bounded during a flood of tickets of a thousand files',
	flood,
	'tickets',
	seconds,
);
test.serial(
	'other clients are answered and memory stays bounded during a flood of uploads of one name',
	flood,
	'names',
	seconds,
);
test.serial(
	'other clients are answered and memory stays bounded during a flood of sign-ins on 90 connections',
	flood,
	'signIns',
	seconds,
);
