import { type Rule, refuses, second } from './rules.js';

/** Which storage roots belong to the database, and which homes lie on which. */
export function rootRules(rule: Rule): void {
	const root = (name: string) => ({ name, rootId: `id of ${name}`, driver: 'local', location: `/mnt/${name}` });

	rule('storage roots are listed in the order in which they came', async (t, { roots }, clock) => {
		t.deepEqual(await roots.list(), []);
		await roots.add({ ...root('local'), location: null });
		clock.now += second;
		await roots.add(root('archive'));
		t.deepEqual(await roots.list(), [
			{ ...root('local'), location: null, isDefault: false, createdAt: clock.now - second },
			{ ...root('archive'), isDefault: false, createdAt: clock.now },
		]);
		await refuses(t, 'alreadyExists', () => roots.add(root('archive')));
		await roots.add(root('Archive'));
		t.is((await roots.list()).length, 3, 'names are told apart by case');
	});

	rule('one storage root at a time is the default one', async (t, { roots }) => {
		for (const name of ['a', 'b', 'c']) await roots.add(root(name));
		const defaults = async () => (await roots.list()).filter(({ isDefault }) => isDefault).map(({ name }) => name);
		await roots.setDefault('b');
		t.deepEqual(await defaults(), ['b']);
		await roots.setDefault('c');
		t.deepEqual(await defaults(), ['c']);
		await refuses(t, 'notFound', () => roots.setDefault('d'));
		t.deepEqual(await defaults(), ['c']);
		await Promise.all(['a', 'b', 'c', 'a', 'b'].map((name) => roots.setDefault(name)));
		t.is((await defaults()).length, 1);
	});

	rule('a storage root is renamed, and its homes stay with it', async (t, { roots, homes }) => {
		await roots.add(root('disk'));
		await homes.set('ada', 'id of disk');
		await roots.add(root('other'));
		await refuses(t, 'alreadyExists', () => roots.rename('disk', 'other'));
		await refuses(t, 'notFound', () => roots.rename('nothing', 'new'));
		await roots.rename('disk', 'big');
		t.like(
			(await roots.list()).find(({ name }) => name === 'big'),
			{ rootId: 'id of disk', location: '/mnt/disk' },
		);
		t.deepEqual(await homes.list('id of disk'), ['ada']);
	});

	rule('a storage root goes only once no home lies on it', async (t, { roots, homes }) => {
		await roots.add(root('disk'));
		await homes.set('ada', 'id of disk');
		await refuses(t, 'conflict', () => roots.remove('disk'));
		t.is((await roots.list()).length, 1);
		await homes.set('ada', 'elsewhere');
		await roots.remove('disk');
		t.deepEqual(await roots.list(), []);
		await refuses(t, 'notFound', () => roots.remove('disk'));
	});

	rule('a home gets one place, also when several ask at once', async (t, { homes }) => {
		t.is(await homes.find('ada'), undefined);
		const places = await Promise.all(['one', 'two', 'three', 'four'].map((rootId) => homes.place('ada', rootId)));
		t.is(new Set(places).size, 1);
		t.is(await homes.find('ada'), places[0]);
		t.is(await homes.place('ada', 'later'), String(places[0]));
		t.is(await homes.find('Ada'), undefined);
		await homes.set('ada', 'moved');
		t.is(await homes.find('ada'), 'moved');
		await homes.set('bob', 'moved');
		t.deepEqual(await homes.list('moved'), ['ada', 'bob']);
		t.deepEqual(await homes.list('one'), []);
	});
}
