import test from 'ava';
import { killedWhileUploading } from './uploadKills.js';

test(
	'killed at any moment, the server loses no upload that it acknowledged and makes none twice',
	killedWhileUploading,
	10,
);
