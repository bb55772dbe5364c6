import type { StorageProvider } from '@stowage/plugin-api';
import { body, names, put, putFolders, type Rule, readText, refused, toPath } from './steps.js';

/** Valid names that a careless program handles wrongly. */
export const oddNames: Readonly<Record<string, string>> = {
	'255 bytes': 'n'.repeat(255),
	'255 bytes of emoji': `${'😀'.repeat(63)}abc`,
	'an emoji of many code points': '👩‍👩‍👧‍👦🏳️‍🌈',
	'a leading dash': '-rf',
	'two leading dashes': '--version',
	'a leading dot': '.hidden',
	'three dots': '...',
	'a space only': '  both  ',
	'a trailing dot': 'dot.',
	'only a space': ' ',
	'percent signs': '%2e%2e%2f%00',
	'shell characters': '$(touch x);`id`|&\'"*?<>',
	'a colon': 'C:stream:$DATA',
	'a Windows device': 'CON',
	'a replacement character': 'what�ever',
	'right-to-left override': 'a‮txt.exe',
	'zero-width characters': 'a​b﻿',
	'an object property': '__proto__',
	'the private folder of a root': '.stowage',
	'a line separator': 'a\u2028b',
	'a paragraph separator': 'a\u2029b',
};

export function namingRules(assertThat: Rule): void {
	for (const [title, name] of Object.entries(oddNames)) {
		assertThat(`an unusual name (${title}) can be stored, listed, moved, copied and removed`, async (t, storage) => {
			await putFolders(storage, 'home', `home/${name}`);
			await put(storage, `home/${name}/${name}`, 'content');
			t.deepEqual(await names(storage, `home/${name}`), [name]);
			t.is((await storage.stat(toPath(`home/${name}/${name}`))).name, name);
			await storage.move(toPath(`home/${name}/${name}`), toPath('home/plain'));
			await storage.copy(toPath('home/plain'), toPath(`home/${name}/${name}`));
			await storage.copy(toPath(`home/${name}`), toPath('home/copy'));
			t.is(await readText(storage, `home/copy/${name}`), 'content');
			await storage.remove(toPath(`home/${name}/${name}`));
			t.is(await storage.count(toPath(`home/${name}`)), 0);
			await storage.remove(toPath(`home/${name}`));
			t.deepEqual(await names(storage, 'home'), ['copy', 'plain']);
		});
	}

	assertThat('an item whose name is taken gets the first free one of its other names', async (t, storage) => {
		await putFolders(storage, 'home', 'from');
		for (const name of ['a', 'a 1', 'a 2', 'a 4']) await put(storage, `home/${name}`, `first ${name}`);
		const otherNames = Array.from({ length: 400 }, (_, n) => `a ${n + 1}`);
		const staged = await storage.stage();
		await staged.append(body('committed'), 0);
		t.is((await staged.commit(toPath('home/a'), { otherNames })).name, 'a 3');
		t.is(await readText(storage, 'home/a 3'), 'committed');
		await put(storage, 'from/b', 'moved');
		const tried: string[] = [];
		const beforeNaming = async (name: string) => void tried.push(name);
		t.is((await storage.move(toPath('from/b'), toPath('home/a'), { otherNames, beforeNaming })).name, 'a 5');
		t.is(tried.at(-1), 'a 5');
		t.is((await storage.copy(toPath('home/a 5'), toPath('home/a'), { otherNames })).name, 'a 6');
		t.is(await readText(storage, 'home/a 6'), 'moved');
		t.is((await storage.copy(toPath('home'), toPath('home'), { otherNames: ['b'] })).name, 'b');
		t.is((await storage.move(toPath('b'), toPath('b'), { otherNames: ['c'] })).name, 'c');
		for (const name of ['a', 'a 1', 'a 2', 'a 4']) t.is(await readText(storage, `home/${name}`), `first ${name}`);
		t.is(await storage.count(toPath('home')), 7);
	});

	assertThat('an item whose names are all taken is refused and not changed', async (t, storage) => {
		for (const name of ['a', 'b', 'c']) await put(storage, name);
		const otherNames = ['b', 'c'];
		const staged = await storage.stage();
		await staged.append(body('staged'), 0);
		await refused(t, 'alreadyExists', () => staged.commit(toPath('a'), { otherNames }));
		await refused(t, 'alreadyExists', () => storage.move(toPath('c'), toPath('a'), { otherNames }));
		await refused(t, 'alreadyExists', () => storage.copy(toPath('c'), toPath('a'), { otherNames }));
		t.deepEqual(await names(storage, ''), ['a', 'b', 'c']);
		t.is((await staged.commit(toPath('a'), { otherNames: [...otherNames, 'd'] })).name, 'd');
	});

	assertThat('many concurrent commits with the same names each get one of them', async (t, storage) => {
		const otherNames = Array.from({ length: 40 }, (_, n) => `a (${n + 1})`);
		const files = await Promise.all(Array.from({ length: 20 }, () => storage.stage()));
		const items = await Promise.all(files.map((staged) => staged.commit(toPath('a'), { otherNames })));
		t.deepEqual(items.map(({ name }) => name).sort(), ['a', ...otherNames.slice(0, 19)].sort());
	});

	assertThat('names that only look alike are different', async (t, storage) => {
		const alike = ['caf\u00e9', 'cafe\u0301', 'Caf\u00e9', 'caf\u00e9 ', '\u212b', '\u00c5', 'A\u030a'];
		for (const name of alike) await put(storage, name, `content of ${name}`);
		t.deepEqual(await names(storage, ''), [...alike].sort());
		for (const name of alike) t.is(await readText(storage, name), `content of ${name}`);
	});

	assertThat('a tree may be 200 levels deep', async (t, storage) => {
		const deep = await makeDeepTree(storage, 200);
		await put(storage, `${deep}/bottom`, 'deep');
		t.is(await readText(storage, `${deep}/bottom`), 'deep');
		await storage.copy(toPath('level 1'), toPath('copy'));
		t.is(await readText(storage, `copy${deep.slice('level 1'.length)}/bottom`), 'deep');
		await storage.move(toPath('level 1'), toPath('moved'));
		t.deepEqual(await names(storage, `moved${deep.slice('level 1'.length)}`), ['bottom']);
		await storage.remove(toPath('moved'));
		await refused(t, 'notFound', () => storage.stat(toPath(`moved${deep.slice('level 1'.length)}`)));
	});
}

async function makeDeepTree(storage: StorageProvider, levels: number): Promise<string> {
	let path = 'level 1';
	await storage.makeDirectory(toPath(path));
	for (let level = 2; level <= levels; level++) {
		path = `${path}/level ${level}`;
		await storage.makeDirectory(toPath(path));
	}
	return path;
}
