import test, { type ExecutionContext } from 'ava';
import type { TrashParts } from '../../src/trees/trash/trashParts.js';
import { VersionLimit } from '../../src/trees/trash/versions/VersionLimit.js';
import { type Client, field, file, json } from '../testApp.js';
import { memberFixture } from './memberFixture.js';

const folder = 'docs/Photos';

/** Ada's folder, in which bob and carol edit, and a clock that goes on by as much as a call says. */
async function setUp(t: ExecutionContext) {
	t.timeout(180_000);
	const clock = { ms: Date.now() };
	const fixture = await memberFixture(t, {}, { now: () => clock.ms });
	const { ada, bob, carol, share } = fixture;
	await share({ bob: 'edit', carol: 'edit' });
	const ok = async (answer: ReturnType<Client['call']>) => {
		const { statusCode, payload } = await answer;
		t.is(statusCode, 200, payload);
	};
	const place = (client: Client) =>
		client === ada ? { type: 'private', at: folder } : { type: 'shared', at: 'Photos' };
	/** Uploads a content after so many seconds, in the folder or below. */
	const write = async (client: Client, name: string, text: string, seconds = 1) => {
		clock.ms += seconds * 1_000;
		const [area, at] = client === ada ? ['private', folder] : ['shared', 'Photos'];
		const path = `${at}/${name}`;
		const [directory, base] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];
		const fields = [field('type', area), field('directory', directory), field('onConflict', 'replace')];
		await ok(client.upload('/api/upload', [...fields, file(base, text)]));
	};
	/** By the ids of versions: what one has does not change, and is read once. */
	const read = new Map<string, string>();
	/** Of `name` in the folder or below: all contents that there are, of the file and of its versions, the newest first. */
	const contents = async (name: string) => {
		const at = `${folder}/${name}`;
		const { versions } = json(await ada.get(`/api/versions/${at}?type=private`));
		const all = [(await ada.get(`/api/download/${at}?type=private`)).payload];
		for (const { id } of versions) {
			const content = read.get(id) ?? (await ada.get(`/api/download/${at}?type=private&version=${id}`)).payload;
			read.set(id, content);
			all.push(content);
		}
		return all;
	};
	const move = async (client: Client, from: string, to: string) => {
		clock.ms += 1_000;
		const { type, at } = place(client);
		const paths = { fromPath: `${at}/${from}`, toPath: `${at}/${to}` };
		return client.post('/api/moveItem', { ...paths, type, onConflict: 'replace' });
	};
	const rename = (client: Client, from: string, newName: string) => {
		const { type, at } = place(client);
		return ok(client.post('/api/renameItem', { oldPath: `${at}/${from}`, newName, type }));
	};
	/** Deletes an item, and puts it back. */
	const remove = async (client: Client, name: string) => {
		const { type, at } = place(client);
		const deleted = await client.call('DELETE', '/api/deleteItem', { filePath: `${at}/${name}`, type });
		t.is(deleted.statusCode, 200, deleted.payload);
		await ok(client.post('/api/trash/restore', { ids: [json(deleted).trashId] }));
	};
	const copy = (client: Client, from: string, to: string) => {
		const { type, at } = place(client);
		return client.post('/api/copyItem', { fromPath: `${at}/${from}`, toPath: `${at}/${to}`, type });
	};
	const restore = async (client: Client, name: string, content: string) => {
		const [type, at] = client === ada ? ['private', folder] : ['shared', 'Photos'];
		const filePath = `${at}/${name}`;
		const { versions } = json(await client.get(`/api/versions/${filePath}?type=${type}`));
		// The oldest first: it is one of those.
		for (const { id } of versions.reverse()) {
			const { payload } = await client.get(`/api/download/${filePath}?type=${type}&version=${id}`);
			if (payload === content) return ok(client.post('/api/versions/restore', { filePath, type, id }));
		}
		t.fail(`${content} is there`);
	};
	return { ada, bob, carol, ok, write, contents, move, restore, rename, remove, copy };
}

const unknown = (count: number) => Array<undefined>(count).fill(undefined);

/** What others than bob have written, in the order of the text. */
const others = (contents: readonly string[]) => contents.filter((text) => !text.startsWith('bob')).sort();

for (const name of ['ada', 'carol'] as const) {
	test(`a member who restores what ${name} wrote, and replaces it, does not end it`, async (t) => {
		const { ada, bob, write, contents, restore, ...clients } = await setUp(t);
		const writer = name === 'ada' ? ada : clients.carol;
		for (let n = 0; n < 4; n++) await write(writer, 'a.txt', `${name} ${n}`);
		for (let n = 0; n < 50; n++) await write(bob, 'a.txt', `bob ${n}`, 0.2);
		const before = others(await contents('a.txt'));
		t.deepEqual(
			before,
			[0, 1, 2, 3].map((n) => `${name} ${n}`),
		);
		for (const text of before) {
			await restore(bob, 'a.txt', text);
			for (let n = 0; n < 4; n++) await write(bob, 'a.txt', `bob again ${n}`, 0.01);
		}
		const after = await contents('a.txt');
		t.deepEqual(others(after), before);
		t.true(after.length <= 55, `${after.length}`);
	});

	test(`a member who moves a file of their own onto one that ${name} wrote does not end that`, async (t) => {
		const { ada, bob, write, contents, move, ...clients } = await setUp(t);
		await write(name === 'ada' ? ada : clients.carol, 'a.txt', name);
		for (let n = 0; n < 52; n++) await write(bob, '2030/a.txt', `bob ${n}`);
		for (let n = 0; n < 2; n++) await write(bob, '2030/a.txt', `bob q${n}`, 0.01);
		t.is((await move(bob, '2030/a.txt', 'a.txt')).statusCode, 200);
		await write(bob, 'a.txt', 'bob z', 0.01);
		for (let n = 0; n < 8; n++) await write(bob, 'a.txt', `bob z${n}`);
		t.deepEqual(others(await contents('a.txt')), [name]);
	});

	test(`a member who moves a file that ${name} wrote onto one of their own does not end that`, async (t) => {
		const { ada, bob, write, contents, move, ...clients } = await setUp(t);
		await write(name === 'ada' ? ada : clients.carol, '2030/a.txt', name);
		for (let n = 0; n < 52; n++) await write(bob, 'a.txt', `bob ${n}`);
		for (let n = 0; n < 2; n++) await write(bob, 'a.txt', `bob q${n}`, 0.01);
		t.is((await move(bob, '2030/a.txt', 'a.txt')).statusCode, 200);
		for (let n = 0; n < 3; n++) await write(bob, 'a.txt', `bob y${n}`, 0.01);
		for (let n = 0; n < 8; n++) await write(bob, 'a.txt', `bob z${n}`);
		t.deepEqual(others(await contents('a.txt')), [name]);
	});
}

test('what a member has written is known to be theirs after it was restored, and when the owner has replaced it', async (t) => {
	const { ada, bob, write, contents, restore } = await setUp(t);
	await write(ada, 'a.txt', 'ada');
	for (let n = 0; n < 40; n++) await write(bob, 'a.txt', `bob ${n}`);
	for (let n = 0; n < 10; n++) {
		await restore(n % 2 === 0 ? bob : ada, 'a.txt', `bob ${n}`);
		await write(n % 3 === 0 ? ada : bob, 'a.txt', n % 3 === 0 ? `ada ${n}` : `bob again ${n}`);
	}
	const own = ['ada', 'ada 0', 'ada 3', 'ada 6', 'ada 9'];
	t.deepEqual(others(await contents('a.txt')), own);
	for (let n = 0; n < 40; n++) await write(bob, 'a.txt', `bob later ${n}`);
	const all = await contents('a.txt');
	t.deepEqual(others(all), own);
	t.is(all.length, 51);
});

test('a member does not join the versions of two files to more than one file may have', async (t) => {
	const { ada, bob, write, contents, move } = await setUp(t);
	for (const name of ['a', '2030/a']) for (let n = 0; n < 26; n++) await write(ada, name, `${name} ${n}`);
	const refused = await move(bob, '2030/a', 'a');
	t.is(refused.statusCode, 403, refused.payload);
	t.is(json(refused).message, 'There are too many former contents of this file for another one of yours.');
	await write(ada, 'a', 'a saved');
	t.deepEqual([(await contents('a')).length, (await contents('2030/a')).length], [27, 26]);
	// Fewer are joined, as with a move of the owner's.
	await write(bob, '2030/c', 'bob');
	t.is((await move(bob, '2030/c', 'a')).statusCode, 200);
	t.is((await contents('a')).length, 28);
});

/** Contents of these numbers, in the order of the text. */
const numbered = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name} ${n}`).sort();

/** How bob brings another content to the file `a.txt`. */
const ways: Record<string, (fixture: Awaited<ReturnType<typeof setUp>>, content: string) => Promise<void>> = {
	async 'writes it, and renames it and back'({ write, rename, bob }, content) {
		await write(bob, 'a.txt', content, 0.2);
		await rename(bob, 'a.txt', 'b.txt');
		await rename(bob, 'b.txt', 'a.txt');
	},
	async 'writes it, deletes it and puts it back'({ write, remove, bob }, content) {
		await write(bob, 'a.txt', content, 0.2);
		await remove(bob, 'a.txt');
	},
	async 'moves new files onto it'({ write, move, bob, ok }, content) {
		await write(bob, '2030/new.txt', content, 0.2);
		await ok(move(bob, '2030/new.txt', 'a.txt'));
	},
	async 'moves new files onto it that were renamed'({ write, move, rename, bob, ok }, content) {
		await write(bob, '2030/new.txt', content, 0.2);
		await rename(bob, '2030/new.txt', 'other.txt');
		await ok(move(bob, '2030/other.txt', 'a.txt'));
	},
	async 'moves new files onto it that were written twice'({ write, move, bob, ok }, content) {
		await write(bob, '2030/new.txt', `${content} first`, 0.2);
		await write(bob, '2030/new.txt', content, 0.2);
		await ok(move(bob, '2030/new.txt', 'a.txt'));
	},
	async 'moves copies onto it'({ copy, move, bob, ok }) {
		await ok(copy(bob, 'a.txt', '2030/copy.txt'));
		await ok(move(bob, '2030/copy.txt', 'a.txt'));
	},
};

for (const [what, act] of Object.entries(ways)) {
	test(`a member who ${what}, again and again, ends nothing of others, and nothing of the owner’s goes before theirs`, async (t) => {
		const fixture = await setUp(t);
		const { ada, bob, carol, write, contents } = fixture;
		for (let n = 0; n < 20; n++) await write(ada, 'a.txt', `ada ${n}`);
		for (let n = 0; n < 20; n++) await write(carol, 'a.txt', `carol ${n}`);
		await write(bob, 'a.txt', 'bob');
		for (let n = 0; n < 60; n++) await act(fixture, `bob ${n}`);
		const all = await contents('a.txt');
		t.deepEqual(others(all), [...numbered('ada', 20), ...numbered('carol', 20)]);
		t.true(all.length <= 52, `${all.length}`);
		await write(carol, 'a.txt', 'carol again');
		for (let n = 20; n < 80; n++) {
			await write(ada, 'a.txt', `ada ${n}`, 60);
			if (![20, 21, 34, 48, 60, 79].includes(n)) continue;
			const left = await contents('a.txt');
			const own = left.filter((text) => text.startsWith('ada'));
			// Of each member the last one may have been replaced by mistake: it goes no sooner than the owner's.
			if (left.length - own.length > 2) t.deepEqual(own.sort(), numbered('ada', n + 1));
			else t.true(own.length >= 48, `${own.length}`);
		}
	});
}

test('what a member has written is known to be theirs when its owner has renamed it, or deleted it and put it back', async (t) => {
	const { ada, bob, write, contents, rename, remove } = await setUp(t);
	await write(ada, 'a.txt', 'ada');
	for (let n = 0; n < 60; n++) {
		await write(bob, 'a.txt', `bob ${n}`);
		if (n % 2 === 0) {
			await rename(ada, 'a.txt', 'b.txt');
			await rename(ada, 'b.txt', 'a.txt');
		} else await remove(ada, 'a.txt');
	}
	const all = await contents('a.txt');
	t.true(all.length <= 52, `${all.length}`);
	t.deepEqual(others(all), ['ada']);
});

test('a member who saves by moves is not refused, however full of the owner’s contents a file is', async (t) => {
	const { ada, bob, write, contents, move, ok } = await setUp(t);
	for (let n = 0; n < 60; n++) await write(ada, 'a.txt', `ada ${n}`);
	const before = others(await contents('a.txt'));
	t.is(before.length, 51);
	for (let n = 0; n < 5; n++) {
		await write(bob, '2030/a.txt~', `bob ${n}`);
		await ok(move(bob, '2030/a.txt~', 'a.txt'));
	}
	t.deepEqual(others(await contents('a.txt')), before);
	// What the owner has written is nothing of the member's.
	await write(ada, '2030/b.txt', 'ada b');
	t.is((await move(bob, '2030/b.txt', 'a.txt')).statusCode, 403);
});

test('a member adds no version to a file that has very many which this member can’t end', async (t) => {
	const ends: unknown[] = [];
	/** By whom the versions of each file are known to have been written, and at last what it has. */
	const files: Record<string, (string | undefined)[]> = {
		...{ empty: ['bob'], full: unknown(50), veryFull: unknown(251), tooFull: unknown(252), half: unknown(25) },
		...{ bobs: [...Array(60).fill('bob')], carols: [...Array(48).fill('carol')] },
		...{ fullBobs: [...unknown(260), 'bob'], ada: unknown(1) },
	};
	const versionsOf = (name: string) =>
		(files[name] ?? []).slice(0, -1).map((writer, deletedAt) => ({ deletedAt, ...(writer && { writtenBy: writer }) }));
	const parts = {
		versions: {
			countsWithin: async (_: string, path: string, use: (some: object[]) => Promise<void>) =>
				use([{ count: versionsOf(path).length }]),
			of: async (_: string, { path }: { path: string }) =>
				path === 'all' ? Array.from({ length: 202 }, (_, deletedAt) => ({ deletedAt })) : versionsOf(path),
		},
	} as unknown as TrashParts;
	const limit = new VersionLimit(parts, { endSuperfluous: async (...call) => ends.push(call) });
	const member = { id: 'bob', username: 'bob', folders: [] };
	const owner = { kind: 'user', id: 'ada', username: 'ada' } as const;
	const contentOf = (name: string) => ({ file: name, writtenBy: files[name]?.at(-1) });
	const room = (path: string, from?: string, user: typeof owner & { member?: typeof member } = { ...owner, member }) =>
		limit.assertRoom(
			user,
			{ ...contentOf(path), path: path as never },
			from ? { kind: 'moved', from: `users/ada/${from}` as never } : { kind: 'written' },
			from ? contentOf(from) : undefined,
		);
	const refused = { message: /too many former contents/ };
	t.is(await room('full', 'empty'), 0, 'what is the member’s own gives way itself');
	t.is(await room('full', 'bobs'), 59);
	t.is(await room('bobs', 'full'), 49, 'nor is anything joined to what is');
	await t.throwsAsync(room('full', 'ada'), refused);
	await t.throwsAsync(room('ada', 'full'), refused);
	t.is(await room('full', 'ada', owner), 0);
	t.is(await room('half', 'half'), 24);
	await t.throwsAsync(room('half', 'carols'), refused);
	t.is(await room('half', 'carols', owner), 47);
	t.is(await room('veryFull'), 0);
	await t.throwsAsync(room('tooFull'), refused);
	await t.throwsAsync(room('tooFull', 'empty'), refused);
	t.is(await room('tooFull', undefined, owner), 0);
	t.is(await room('fullBobs'), 0, 'this replaces nothing that must stay');
	const restored = { kind: 'restored', writtenBy: undefined } as const;
	const full = { ...contentOf('tooFull'), path: 'tooFull' as never };
	t.is(await limit.assertRoom({ ...owner, member }, full, restored, undefined), 0);
	const all = { file: 'file', path: 'all' as never };
	await limit.apply('ada', all, { count: 202, brought: 0 }, member);
	t.deepEqual(ends, [], 'who wrote them is not known');
	await limit.apply('ada', all, { count: 202, brought: 0 }, undefined);
	t.is((ends[0] as [object[]])[0].length, 2, 'nor do they push out all others at once');
});
