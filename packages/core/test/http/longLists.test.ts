import * as contract from '@stowage/contract';
import test from 'ava';
import { turnsDuring } from '../slowClock.js';
// It parses the payloads of all calls.
import '@stowage/plugin-api';

test.serial('others have their turns while a long list of a request is parsed', async (t) => {
	const path = Array(1000).fill('a').join('/');
	const files = Array.from({ length: 30 }, () => ({ path }));
	const turns = await turnsDuring(async () => {
		const { data } = await contract.downloadZip.payload.safeParseAsync({ type: 'private', directory: '', files });
		t.is(data?.files.length, 30);
	});
	t.true(turns >= 30, `${turns}`);
});
