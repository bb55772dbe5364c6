import test from 'ava';
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

test.serial('long paths of one length that begin alike are found without comparing each with all others', (t) => {
	const folder = deep.slice(0, 60_000);
	const begun = process.cpuUsage();
	const map = new PathMap<number>();
	for (let index = 0; index < 2000; index++) map.set(`${folder}/${1_000_000 + index}`, index);
	for (let index = 0; index < 2000; index++) t.is(map.get(`${folder}/${1_000_000 + index}`), index);
	const { user, system } = process.cpuUsage(begun);
	// A Map takes more than 20 seconds.
	t.true(user + system < 4_000_000, `${(user + system) / 1000} ms`);
});
