import test from 'ava';
import { z } from 'zod';
import { downloadZip } from '../src/files.js';
import { listOf } from '../src/schemas.js';

test('of 100,000 invalid items only the first is validated and reported', async (t) => {
	let validations = 0;
	const counted = z.unknown().refine(() => {
		validations++;
		return false;
	});
	const result = await listOf(counted, 100_000).safeParseAsync(Array(100_000).fill(''));
	t.is(validations, 1);
	t.is(result.error?.issues.length, 1);
});

test('a selection is parsed unchanged, an invalid item is reported with its path, and over 100,000 items are refused', async (t) => {
	const selection = (...files: unknown[]) =>
		downloadZip.payload.safeParseAsync({ files, type: 'public', directory: '' });
	const files = [
		{ path: 'a/b', owner: null },
		{ path: 'c', name: 'x' },
	];
	t.deepEqual((await selection(...files)).data?.files as unknown, files);
	const [issue] = (await selection({ path: 'a' }, { path: '' })).error?.issues ?? [];
	t.deepEqual(issue?.path, ['files', 1, 'path']);
	t.is(issue?.message, 'must not be empty');
	t.deepEqual((await selection({ path: '../a' })).error?.issues[0]?.path, ['files', 0, 'path']);
	t.false((await selection(...Array(100_001).fill({ path: 'a' }))).success);
});
