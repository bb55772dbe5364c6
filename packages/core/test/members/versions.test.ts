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
	/** Uploads a content after so many seconds, in the folder or below. */
	const write = async (client: Client, name: string, text: string, seconds = 1) => {
		clock.ms += seconds * 1_000;
		const [area, at] = client === ada ? ['private', folder] : ['shared', 'Photos'];
		const path = `${at}/${name}`;
		const [directory, base] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];
		const fields = [field('type', area), field('directory', directory), field('onConflict', 'replace')];
		await ok(client.upload('/api/upload', [...fields, file(base, text)]));
	};
	/** Of `name` in the folder or below: all contents that there are, of the file and of its versions, the newest first. */
	const contents = async (name: string) => {
		const at = `${folder}/${name}`;
		const { versions } = json(await ada.get(`/api/versions/${at}?type=private`));
		const all = [await ada.get(`/api/download/${at}?type=private`)];
		for (const { id } of versions) all.push(await ada.get(`/api/download/${at}?type=private&version=${id}`));
		return all.map(({ payload }) => payload);
	};
	const move = async (client: Client, from: string, to: string) => {
		clock.ms += 1_000;
		const paths = { fromPath: `Photos/${from}`, toPath: `Photos/${to}` };
		return client.post('/api/moveItem', { ...paths, type: 'shared', onConflict: 'replace' });
	};
	const restore = async (client: Client, name: string, content: string) => {
		const [type, at] = client === ada ? ['private', folder] : ['shared', 'Photos'];
		const filePath = `${at}/${name}`;
		const { versions } = json(await client.get(`/api/versions/${filePath}?type=${type}`));
		for (const { id } of versions) {
			const { payload } = await client.get(`/api/download/${filePath}?type=${type}&version=${id}`);
			if (payload === content) return ok(client.post('/api/versions/restore', { filePath, type, id }));
		}
		t.fail(`${content} is there`);
	};
	return { ada, bob, carol, write, contents, move, restore };
}

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

test('a member adds no version to a file that has very many which this member can’t end', async (t) => {
	const ends: unknown[] = [];
	const counts: Record<string, number> = { a: 200, b: 201, c: 20, d: 30, e: 0, f: 250, g: 251 };
	const parts = {
		versions: {
			async countsWithin(_: string, path: string, use: (some: object[]) => Promise<void>) {
				await use([{ count: counts[path] }]);
			},
			of: async () => Array.from({ length: 202 }, (_, deletedAt) => ({ deletedAt })),
		},
	} as unknown as TrashParts;
	const limit = new VersionLimit(parts, { endSuperfluous: async (...call) => ends.push(call) });
	const member = { id: 'bob', username: 'bob', folders: [] };
	const owner = { kind: 'user', id: 'ada', username: 'ada' } as const;
	const room = (path: string, from?: string, user: typeof owner & { member?: typeof member } = { ...owner, member }) =>
		limit.assertRoom(
			user,
			path as never,
			from ? { kind: 'moved', from: `users/ada/${from}` as never } : { kind: 'written' },
		);
	t.is(await room('a', 'e'), 0);
	await t.throwsAsync(room('b', 'e'), { message: /too many former contents/ });
	t.is(await room('b', 'e', owner), 0);
	t.is(await room('f'), 0, 'what is written gives way itself');
	await t.throwsAsync(room('g'), { message: /too many former contents/ });
	t.is(await room('g', undefined, owner), 0);
	t.is(await limit.assertRoom({ ...owner, member }, 'b' as never, { kind: 'restored', writtenBy: undefined }), 0);
	await t.throwsAsync(room('c', 'd'), { message: /too many former contents/ });
	t.is(await room('c', 'd', owner), 30);
	t.is(await room('e', 'a'), 200);
	await t.throwsAsync(room('e', 'b'), { message: /too many former contents/ });
	const all = { file: 'file', path: 'b' as never };
	await limit.apply('ada', all, { count: 202, brought: 0 }, member);
	t.deepEqual(ends, [], 'who wrote them is not known');
	await limit.apply('ada', all, { count: 202, brought: 0 }, undefined);
	t.is((ends[0] as [object[]])[0].length, 2, 'nor do they push out all others at once');
});
