import test from 'ava';
import { lostRoot } from './lostRoot.js';

test(
	'a disk that vanishes under load, or becomes read-only, harms only its part and comes back by itself',
	lostRoot,
	2,
);
