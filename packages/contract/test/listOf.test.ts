import test from 'ava';
import { z } from 'zod';
import { downloadZip } from '../src/files.js';
import { listOf } from '../src/schemas.js';

test('of a hundred thousand wrong items the first is told, and no other is looked at', (t) => {
	let looks = 0;
	const counted = z.unknown().refine(() => {
		looks++;
		return false;
	});
	const result = listOf(counted, 100_000).safeParse(Array(100_000).fill(''));
	t.is(looks, 1);
	t.is(result.error?.issues.length, 1);
});

test('a selection is read as it was sent, and what is wrong is told with its place', (t) => {
	const selection = (...files: unknown[]) => downloadZip.payload.safeParse({ files, type: 'public', directory: '' });
	const files = [
		{ path: 'a/b', owner: null },
		{ path: 'c', name: 'x' },
	];
	t.deepEqual(selection(...files).data?.files as unknown, files);
	const [issue] = selection({ path: 'a' }, { path: '' }).error?.issues ?? [];
	t.deepEqual(issue?.path, ['files', 1, 'path']);
	t.is(issue?.message, 'must not be empty');
	t.deepEqual(selection({ path: '../a' }).error?.issues[0]?.path, ['files', 0, 'path']);
	t.false(selection(...Array(100_001).fill({ path: 'a' })).success);
});
