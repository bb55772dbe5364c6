import test from 'ava';
import { killedWhileUploading } from './uploadKills.js';

test('a server killed 200 times loses no acknowledged upload and stores none twice', killedWhileUploading, 200);
