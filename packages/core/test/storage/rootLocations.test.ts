import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { isFailure } from '@stowage/rules';
import test from 'ava';
import { assertApart } from '../../src/storage/roots/assertApart.js';

const run = promisify(execFile);

test('a root inside or around another one is refused, also through symbolic links', async (t) => {
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

test('a root inside or around another one is refused, also through a bind mount', async (t) => {
	if (process.getuid?.() !== 0) {
		t.log('not run as root: nothing can be mounted');
		return;
	}
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-apart-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const at = (...names: string[]) => path.join(folder, ...names);
	await mkdir(at('disk/root/users/ada'), { recursive: true });
	await mkdir(at('disk/root-old'));
	await mkdir(at('a mount'));
	await mkdir(at('beside'));
	for (const [from, to] of [
		['disk/root/users', 'a mount'],
		['disk/root-old', 'beside'],
	] as const) {
		await run('mount', ['--bind', at(from), at(to)]);
		t.teardown(() => run('umount', ['-l', at(to)]));
	}
	const root = { name: 'big', location: at('disk/root') };
	for (const location of ['a mount', 'a mount/ada', 'a mount/new/er'])
		t.regex(String(await t.throwsAsync(assertApart(at(location), [root]))), /lies inside big, in /, location);
	const mounted = { name: 'small', location: at('a mount/ada') };
	for (const location of ['disk/root', 'disk'])
		t.regex(String(await t.throwsAsync(assertApart(at(location), [mounted]))), /holds small, in /, location);
	await t.notThrowsAsync(assertApart(at('beside'), [root, mounted]));
});
