import { storageSuite } from '@stowage/conformance';
import test from 'ava';
import { nodeCalls } from '../src/system/nodeCalls.js';
import { localDriver } from './steps.js';

/** As on a system where a descriptor has no path of its own. */
const calls = { ...nodeCalls, namesByDescriptor: false };

storageSuite(test, 'LocalStorage by real paths', (t) => localDriver(t, { calls }));
