import test from 'ava';
import { usualMs } from '../../../../test/processorTime.js';
import { PathMap, PathSet } from '../../src/index.js';

const deep = 'folder/'.repeat(9000);
/** Paths that differ at their ends, at their beginnings and in the middle, about the lengths at which they are cut. */
const lengths = [0, 1, 7999, 8000, 8001, 15_999, 16_000, 16_001, 23_999, 24_000, 24_001, 32_001, 60_000];
const paths = lengths.flatMap((length) => [
	`${deep.slice(0, length)}a`,
	`${deep.slice(0, length)}b`,
	`b${deep.slice(0, length)}`,
	`${deep.slice(0, length / 2)}b${deep.slice(0, length / 2)}`,
]);

test('a map of paths has what a Map of them has, in the same order', (t) => {
	const map = new PathMap<number>();
	const same = new Map<string, number>();
	const assertSame = () => {
		t.is(map.size, same.size);
		t.deepEqual([...map.values()], [...same.values()]);
		for (const path of [...paths, `${deep}x`]) {
			t.is(map.has(path), same.has(path));
			t.is(map.get(path), same.get(path));
		}
	};
	assertSame();
	for (const [index, path] of [...paths, ...paths.slice(5, 20)].entries()) {
		map.set(path, index);
		same.set(path, index);
	}
	assertSame();
	for (const path of [...paths.slice(0, 30), 'none', `${deep}x`]) t.is(map.delete(path), same.delete(path));
	assertSame();
	const [first = ''] = paths;
	map.set(first, -1);
	same.set(first, -1);
	assertSame();
	t.is(new PathMap([['a', 1] as const]).get('a'), 1);
});

test('a set of paths has each once', (t) => {
	const set = new PathSet([...paths, ...paths]);
	t.deepEqual([...set], [...new Set(paths)]);
	t.is(set.size, new Set(paths).size);
	t.true(set.delete(`${deep.slice(0, 60_000)}a`));
	t.false(set.has(`${deep.slice(0, 60_000)}a`));
	t.true(set.has(`${deep.slice(0, 60_000)}b`));
});

test.serial('long paths of one length that begin alike are found without comparing each with all others', async (t) => {
	const folder = deep.slice(0, 60_000);
	const ms = await usualMs(() => {
		const map = new PathMap<number>();
		for (let index = 0; index < 2000; index++) map.set(`${folder}/${1_000_000 + index}`, index);
		for (let index = 0; index < 2000; index++) t.is(map.get(`${folder}/${1_000_000 + index}`), index);
	});
	// A Map takes more than 20 seconds.
	t.true(ms < 4000, `${ms} ms`);
});

test('a set of paths says which of them a path is or lies in, the innermost first', (t) => {
	const set = new PathSet<string>(['a', 'a/b c', 'a/b c/d', 'e/f', 'a/bb']);
	t.deepEqual([...set.covering('a/b c/d/e')], ['a/b c/d', 'a/b c', 'a']);
	t.deepEqual([...set.covering('a/b c')], ['a/b c', 'a']);
	t.deepEqual([...set.covering('a/b')], ['a']);
	for (const path of ['e', 'e/g', 'ab', 'g/f', '', 'c/b c/d']) t.false(set.covers(path), path);
	t.true(set.delete('a'));
	t.false(set.covers('a/b'));
	t.true(set.covers('a/bb/c'));
	t.true(set.add('').add('g').covers('g/f'));
	t.true(set.covers('e'));
	t.deepEqual([...new PathSet(['', 'a']).covering('a/b')], ['a', '']);
	t.deepEqual([...new PathSet(['']).covering('')], ['']);
	t.false(new PathSet().covers(''));
	for (const path of paths) t.deepEqual([...new PathSet(paths).covering(path)].at(0), path);
});

test('of the thousand folders that a path lies in a set of paths looks up those whose name and length it has', (t) => {
	let looks = 0;
	class CountedSet extends PathSet {
		override has(path: string): boolean {
			looks++;
			return super.has(path);
		}
	}
	const folder = Array(999).fill('f'.repeat(59)).join('/');
	const siblings = Array.from({ length: 250 }, (_, n) => `${folder}/${1000 + n}`);
	// Of many levels, each of which is as long as a folder above.
	const levels = Array.from({ length: 250 }, (_, n) => `${folder.slice(0, 60 * (n + 1))}${'e'.repeat(59)}`);
	const set = new CountedSet([...levels, ...siblings]);
	for (const path of [`${folder}/2000`, `${folder}/none/a`, folder]) t.false(set.covers(path));
	t.is(looks, 0);
	for (const path of siblings) t.true(set.covers(`${path}/a`));
	t.is(looks, siblings.length);
});
