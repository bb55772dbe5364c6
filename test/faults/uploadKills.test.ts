import test from 'ava';
import { killedWhileUploading } from './uploadKills.js';

test('a server killed at any moment loses no acknowledged upload and stores none twice', killedWhileUploading, 5);
