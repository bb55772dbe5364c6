import test from 'ava';
import { dyingAfterReplacements } from './replacements.js';

test('a server that dies right after a replacement loses no answered content of any file', dyingAfterReplacements, 120);
