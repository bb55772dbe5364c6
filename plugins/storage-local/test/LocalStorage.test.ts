import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { storageSuite } from '@stowage/conformance';
import test from 'ava';
import { localDriver, localStorage, p, put, readText } from './steps.js';

storageSuite(test, 'LocalStorage', (t) => localDriver(t));

test('a path may be longer than a system call accepts', async (t) => {
	const { storage } = await localStorage(t);
	let path = 'n'.repeat(200);
	for (let level = 1; level < 30; level++) {
		await storage.makeDirectory(p(path));
		path = `${path}/${'n'.repeat(200)}`;
	}
	await put(storage, path, 'far');
	t.is(await readText(storage, path), 'far');
	await storage.move(p('n'.repeat(200)), p('moved'));
	await storage.copy(p('moved'), p('copied'));
	t.is(await readText(storage, `copied${path.slice(200)}`), 'far');
	await storage.remove(p('moved'));
});

test('a tree may be 1,000 levels deep', async (t) => {
	const { storage, root } = await localStorage(t);
	const path = Array.from({ length: 1000 }, (_, level) => level).join('/');
	mkdirSync(dirname(join(root, path)), { recursive: true });
	await put(storage, path, 'deep');
	await storage.copy(p('0'), p('copy'));
	t.is(await readText(storage, `copy${path.slice(1)}`), 'deep');
	await storage.remove(p('0'));
});

test('the error of a taken name contains that name, not the name of the source', async (t) => {
	const { storage } = await localStorage(t);
	await put(storage, 'mine', '');
	await put(storage, 'taken', '');
	const message = 'There is already a file or folder named taken';
	await t.throwsAsync(storage.move(p('mine'), p('taken')), { message });
	await t.throwsAsync(storage.copy(p('mine'), p('taken')), { message });
	await t.throwsAsync(storage.makeDirectory(p('taken')), { message });
});

test('many concurrent commits with the same names each get one of them, in at most two attempts', async (t) => {
	const { storage } = await localStorage(t);
	const otherNames = Array.from({ length: 40 }, (_, n) => `a (${n + 1})`);
	const files = await Promise.all(Array.from({ length: 20 }, () => storage.stage()));
	let attempts = 0;
	const beforeNaming = async () => {
		attempts++;
		await new Promise(setImmediate);
	};
	const items = await Promise.all(files.map((staged) => staged.commit(p('a'), { otherNames, beforeNaming })));
	t.deepEqual(items.map(({ name }) => name).sort(), ['a', ...otherNames.slice(0, 19)].sort());
	// Each tries the first name, and all but one another name.
	t.true(attempts <= 2 * files.length, `${attempts} attempts`);
});
