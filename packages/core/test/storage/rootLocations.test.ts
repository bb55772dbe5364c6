import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { isFailure } from '@stowage/rules';
import test from 'ava';
import { assertApart } from '../../src/storage/roots/assertApart.js';

test('a root lies in no other root and holds none, also by way of links', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-apart-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const at = (...names: string[]) => path.join(folder, ...names);
	await mkdir(at('disk/root/users/ada'), { recursive: true });
	await mkdir(at('disk/root-old'));
	await symlink(at('disk/root/users'), at('link'));
	await symlink(at('disk'), at('above'));
	await symlink(at('disk/root'), at('same'));
	const others = [{ name: 'big', location: at('disk/root') }];
	for (const location of ['disk/root/users', 'disk/root/new/er', 'link', 'link/ada/new', 'same/users']) {
		const error = await t.throwsAsync(assertApart(at(location), others));
		t.true(isFailure(error, 'invalid'), location);
		t.regex(String(error), /lies inside big, in /, location);
	}
	for (const location of ['disk', 'above', 'disk/../disk', '/'])
		t.regex(
			String(await t.throwsAsync(assertApart(path.resolve(folder, location), others))),
			/holds big, in /,
			location,
		);
	await t.notThrowsAsync(async () => {
		for (const location of ['disk/root-old', 'disk/new', 'elsewhere', 'disk/root', 'same'])
			await assertApart(at(location), others);
		await assertApart('bucket', others);
		await assertApart(at('disk/new'), [{ name: 'gone', location: at('not/there') }]);
	});
});
