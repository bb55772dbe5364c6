import test from 'ava';
import { isEveryday } from '../everyday.js';
import { killedWhileUploading } from './uploadKills.js';

test(
	'a server killed at any moment loses no acknowledged upload and stores none twice',
	killedWhileUploading,
	// Each way to die once.
	isEveryday ? 2 : 5,
);
