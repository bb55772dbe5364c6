import type { Entry } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { hitFolder, hitKey, stepInHits } from '../src/features/toolbar/search/hits.js';

const hit = (path: string, owner?: string | null): Entry => ({
	name: path.slice(path.lastIndexOf('/') + 1),
	path,
	type: 'file',
	size: 0,
	mtime: 0,
	...(owner === undefined ? {} : { owner }),
});
const first = hit('a.txt', 'ada');
const second = hit('a.txt', 'anonymous');
const hits = [first, second];

const steps = (t: ExecutionContext, key: string, from: Entry | null, to: Entry | null) =>
	t.is(stepInHits(key, hits, from && hitKey(from)), to && hitKey(to));
test('Down chooses the first hit', steps, 'ArrowDown', null, first);
test('Down chooses the next hit, also one with the same path of another owner', steps, 'ArrowDown', first, second);
test('Down after the last hit chooses none', steps, 'ArrowDown', second, null);
test('Up chooses the last hit', steps, 'ArrowUp', null, second);
test('Up before the first hit chooses none', steps, 'ArrowUp', first, null);
test('after a chosen hit is gone Down begins with the first', steps, 'ArrowDown', hit('gone.txt'), first);

test('other keys choose nothing, and so do arrow keys without hits', (t) => {
	for (const key of ['Home', 'End', 'ArrowLeft', 'Enter', 'a']) t.is(stepInHits(key, hits, null), undefined);
	t.is(stepInHits('ArrowDown', [], null), null);
	t.is(stepInHits('ArrowUp', [], 'gone'), null);
});

test('a hit names its folder, and the root is Home', (t) => {
	t.is(hitFolder(hit('work/2026/a.txt')), 'work/2026');
	t.is(hitFolder(hit('a.txt')), 'Home');
	t.is(hitFolder(hit('d\u202Er/a.txt')), 'd\uFFFDr', 'what turns the direction of letters is seen');
});
