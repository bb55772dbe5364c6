import test from 'ava';
import { lostRoot } from './lostRoot.js';

test(
	'a disk that vanishes under load or becomes read-only affects only its own root, which recovers by itself',
	lostRoot,
	2,
);
