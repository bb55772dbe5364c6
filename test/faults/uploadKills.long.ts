import test from 'ava';
import { killedWhileUploading } from './uploadKills.js';

test('200 kills while files are uploaded by every way', killedWhileUploading, 200);
