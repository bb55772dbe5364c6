import { joinPath, parsePath } from '@stowage/rules';
import test from 'ava';
import { usualMs } from '../../../../test/processorTime.js';
import { InnerRoles } from '../../src/members/InnerRoles.js';

const item = parsePath('docs/Photos');
const at = (path: string) => (path === '' ? item : joinPath(item, parsePath(path)));

test('of the folders with members that something lies in the closest one counts, and less of those that lie in it', (t) => {
	const roles = new InnerRoles(item);
	t.is(roles.roleOf(at('a'), 'edit'), 'edit');
	roles.add(at('a'), 'view');
	roles.add(at('a/b'), 'edit');
	roles.add(at('c/d'), 'view');
	roles.add(at('e'), 'edit');
	const expected: readonly (readonly [string, 'view' | 'edit', 'view' | 'edit'])[] = [
		['', 'view', 'view'],
		['a', 'view', 'view'],
		['a/x', 'view', 'view'],
		['a/b', 'edit', 'edit'],
		['a/b/x', 'edit', 'edit'],
		['ab', 'edit', 'view'],
		['c', 'view', 'view'],
		['c/x', 'edit', 'view'],
		['c/d/x', 'view', 'view'],
		['e/x', 'edit', 'edit'],
		['x', 'edit', 'view'],
	];
	for (const [path, ofEditor, ofViewer] of expected)
		t.deepEqual([roles.roleOf(at(path), 'edit'), roles.roleOf(at(path), 'view')], [ofEditor, ofViewer], path);
	t.is(roles.roleOf(parsePath('docs/Photos-2/a'), 'edit'), 'edit');
});

test('the rows of a large folder cost little however many folders in it have members', async (t) => {
	const roles = new InnerRoles(item);
	for (let n = 0; n < 250; n++) roles.add(at(`folder ${n}`), 'edit');
	const rows = Array.from({ length: 200_000 }, (_, n) => at(`row ${n}`));
	const ms = await usualMs(() => t.true(rows.every((path) => roles.roleOf(path, 'edit') === 'edit')));
	// To compare each row with each folder would take five seconds.
	t.true(ms < 3000, `${ms} ms`);
});

test('the rows of a very deep folder cost little however many folders in it have members', async (t) => {
	const deep = parsePath(Array.from({ length: 250 }, () => 'n'.repeat(240)).join('/'));
	const roles = new InnerRoles(deep);
	const names = Array.from({ length: 5_000 }, (_, n) => joinPath(deep, `${1000 + n}`));
	const ms = await usualMs(() => {
		for (const path of names.slice(0, 250)) roles.add(path, 'edit');
		t.true(names.every((path) => roles.roleOf(path, 'edit') === 'edit'));
		t.is(roles.roleOf(deep, 'view'), 'view');
	});
	// In a Map by their paths each is compared with each folder, since these are equally long: nine seconds.
	t.true(ms < 3000, `${ms} ms`);
});

test('the folders in a whole home are told apart by its items, and the later role of one counts', (t) => {
	const roles = new InnerRoles(parsePath(''));
	roles.add(parsePath('a/b'), 'view');
	roles.add(parsePath('c'), 'view');
	roles.add(parsePath('c'), 'edit');
	const roleOf = (path: string) => roles.roleOf(parsePath(path), 'edit');
	t.deepEqual(['', 'a', 'a/b/c', 'a/c', 'c', 'd'].map(roleOf), ['view', 'view', 'view', 'edit', 'edit', 'edit']);
});
