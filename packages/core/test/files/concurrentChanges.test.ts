import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { StorageProvider } from '@stowage/plugin-api';
import type { StoragePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { Client, json, testApp } from '../testApp.js';

type Watched = 'stat' | 'makeDirectory' | 'move' | 'copy';

/** A server; `before` runs `meanwhile` right before the first call of a storage method with a path of ada's. */
async function overtakenApp(t: ExecutionContext) {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const home = path.join(app.filesDir, 'users/ada');
	const { storage } = app.services.roots.first;
	const before = (method: Watched, of: string, meanwhile: () => Promise<unknown>) => {
		const original = storage[method].bind(storage) as (...values: unknown[]) => Promise<unknown>;
		(storage as unknown as Record<Watched, typeof original>)[method] = async (...values) => {
			if (values.includes(`users/ada/${of}` as StoragePath)) {
				storage[method] = original as StorageProvider[Watched] as never;
				await meanwhile();
			}
			return original(...values);
		};
	};
	const call = (name: string, from: string, to: string) =>
		ada.post(`/api/${name}`, { fromPath: from, toPath: to, type: 'private' });
	return { home, before, call };
}

for (const name of ['moveItem', 'copyItem']) {
	test(`${name} creates its target folder again if it is moved away while it is checked`, async (t) => {
		const { home, before, call } = await overtakenApp(t);
		await writeFile(path.join(home, 'file'), 'bytes');
		await mkdir(path.join(home, 'target'));
		before('stat', 'target', () => rename(path.join(home, 'target'), path.join(home, 'away')));
		const answer = await call(name, 'file', 'target/file');
		t.is(answer.statusCode, 200);
		t.is(json(answer).entry.path, 'target/file');
		t.deepEqual(await readdir(path.join(home, 'target')), ['file']);
		t.deepEqual(await readdir(path.join(home, 'away')), []);
	});

	test(`${name} creates a folder above its target again if it is moved away meanwhile`, async (t) => {
		const { home, before, call } = await overtakenApp(t);
		await writeFile(path.join(home, 'file'), 'bytes');
		await mkdir(path.join(home, 'outer'));
		before('makeDirectory', 'outer/inner', () => rename(path.join(home, 'outer'), path.join(home, 'away')));
		t.is((await call(name, 'file', 'outer/inner/file')).statusCode, 200);
		t.deepEqual(await readdir(path.join(home, 'outer/inner')), ['file']);
	});

	test(`${name} creates its target folder again if it is moved away right before the item is stored`, async (t) => {
		const { home, before, call } = await overtakenApp(t);
		await writeFile(path.join(home, 'file'), 'bytes');
		await mkdir(path.join(home, 'target'));
		const method = name === 'moveItem' ? 'move' : 'copy';
		before(method, 'target/file', () => rename(path.join(home, 'target'), path.join(home, 'away')));
		t.is((await call(name, 'file', 'target/file')).statusCode, 200);
		t.deepEqual(await readdir(path.join(home, 'target')), ['file']);
	});

	test(`${name} answers 404 and leaves no folder if its item is moved away meanwhile`, async (t) => {
		const { home, before, call } = await overtakenApp(t);
		await writeFile(path.join(home, 'file'), 'bytes');
		const method = name === 'moveItem' ? 'move' : 'copy';
		before(method, 'new/file', () => rename(path.join(home, 'file'), path.join(home, 'taken')));
		t.is((await call(name, 'file', 'new/file')).statusCode, 404);
		t.deepEqual((await readdir(home)).sort(), ['Public', 'taken']);
	});
}
