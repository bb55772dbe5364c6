import type { StorageProvider } from '@stowage/plugin-api';
import { names, p, put, putFolders, type Rule, readText, refused } from './steps.js';

/** Names that a path can hold and that a careless program stumbles over. */
const oddNames: Readonly<Record<string, string>> = {
	'255 bytes': 'n'.repeat(255),
	'255 bytes of emoji': `${'😀'.repeat(63)}abc`,
	'an emoji of many code points': '👩‍👩‍👧‍👦🏳️‍🌈',
	'a leading dash': '-rf',
	'two leading dashes': '--version',
	'a leading dot': '.hidden',
	'three dots': '...',
	'spaces at both ends': '  both  ',
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
	'a private name below the root': '.stowage',
	'a line separator': 'a\u2028b',
};

export function namingRules(rule: Rule): void {
	for (const [title, name] of Object.entries(oddNames)) {
		rule(`a name with ${title} lives a whole life`, async (t, storage) => {
			await putFolders(storage, 'home', `home/${name}`);
			await put(storage, `home/${name}/${name}`, 'content');
			t.deepEqual(await names(storage, `home/${name}`), [name]);
			t.is((await storage.stat(p(`home/${name}/${name}`))).name, name);
			await storage.move(p(`home/${name}/${name}`), p('home/plain'));
			await storage.copy(p('home/plain'), p(`home/${name}/${name}`));
			await storage.copy(p(`home/${name}`), p('home/copy'));
			t.is(await readText(storage, `home/copy/${name}`), 'content');
			await storage.remove(p(`home/${name}/${name}`));
			t.is(await storage.count(p(`home/${name}`)), 0);
			await storage.remove(p(`home/${name}`));
			t.deepEqual(await names(storage, 'home'), ['copy', 'plain']);
		});
	}

	rule('names that only look alike are different', async (t, storage) => {
		const alike = ['caf\u00e9', 'cafe\u0301', 'Caf\u00e9', 'caf\u00e9 ', '\u212b', '\u00c5', 'A\u030a'];
		for (const name of alike) await put(storage, name, `content of ${name}`);
		t.deepEqual(await names(storage, ''), [...alike].sort());
		for (const name of alike) t.is(await readText(storage, name), `content of ${name}`);
	});

	rule('a tree may be 200 levels deep', async (t, storage) => {
		const deep = await makeDeepTree(storage, 200);
		await put(storage, `${deep}/bottom`, 'deep');
		t.is(await readText(storage, `${deep}/bottom`), 'deep');
		await storage.copy(p('level 1'), p('copy'));
		t.is(await readText(storage, `copy${deep.slice('level 1'.length)}/bottom`), 'deep');
		await storage.move(p('level 1'), p('moved'));
		t.deepEqual(await names(storage, `moved${deep.slice('level 1'.length)}`), ['bottom']);
		await storage.remove(p('moved'));
		await refused(t, 'notFound', () => storage.stat(p(`moved${deep.slice('level 1'.length)}`)));
	});
}

async function makeDeepTree(storage: StorageProvider, levels: number): Promise<string> {
	let path = 'level 1';
	await storage.makeDirectory(p(path));
	for (let level = 2; level <= levels; level++) {
		path = `${path}/level ${level}`;
		await storage.makeDirectory(p(path));
	}
	return path;
}
