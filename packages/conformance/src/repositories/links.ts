import { parsePath } from '@stowage/rules';
import { day, hostileTexts, type Rule, refuses, second } from './rules.js';

const linkOf = (owner: { id: string }, name: string, expiresAt = 1000) => ({
	tokenHash: `hash of ${name}`,
	ownerId: owner.id,
	path: parsePath(name),
	itemId: `id of ${name}`,
	expiresAt,
});

/** Temporary links. */
export function linkRules(rule: Rule): void {
	rule('a link is found by the hash of its token as it was added', async (t, { users, links }, clock) => {
		const alice = await users.add({ username: 'Alice', secret: 's' });
		const added = await links.add(linkOf(alice, 'docs/ä 😀.txt', clock.now + day));
		t.deepEqual(added, {
			id: added.id,
			owner: { id: alice.id, username: 'Alice' },
			path: parsePath('docs/ä 😀.txt'),
			nextPath: undefined,
			itemId: 'id of docs/ä 😀.txt',
			createdAt: clock.now,
			expiresAt: clock.now + day,
			isEnded: false,
			downloads: 0,
		});
		t.deepEqual(await links.find('hash of docs/ä 😀.txt'), added);
		t.is(await links.find('HASH of docs/ä 😀.txt'), undefined);
		for (const text of hostileTexts) t.is(await links.find(text), undefined);
	});

	rule('the links of a disabled user are not found until the user is enabled again', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		await links.add(linkOf(alice, 'a'));
		await users.setDisabled(alice.id, true);
		t.is(await links.find('hash of a'), undefined);
		t.is((await links.list(alice.id)).length, 1);
		await users.setDisabled(alice.id, false);
		t.truthy(await links.find('hash of a'));
	});

	rule('removing a user removes their links, and a link needs an existing user', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		await links.add(linkOf(alice, 'a'));
		await users.remove(alice.id);
		t.is(await links.find('hash of a'), undefined);
		t.deepEqual(await links.list(), []);
		await refuses(t, 'notFound', () => links.add(linkOf(alice, 'b')));
	});

	rule('links are listed by owner, the newest first', async (t, { users, links }, clock) => {
		const [alice, bob] = [
			await users.add({ username: 'alice', secret: 's' }),
			await users.add({ username: 'bob', secret: 's' }),
		];
		for (const [owner, name] of [
			[alice, 'one'],
			[bob, 'two'],
			[alice, 'three'],
		] as const) {
			clock.now += second;
			await links.add(linkOf(owner, name));
		}
		const namesOf = async (ownerId?: string) => (await links.list(ownerId)).map(({ path }) => String(path));
		t.deepEqual(await namesOf(), ['three', 'two', 'one']);
		t.deepEqual(await namesOf(alice.id), ['three', 'one']);
		t.deepEqual(await namesOf('unknown'), []);
	});

	rule('a planned path is kept beside the old one until the move is confirmed', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const [one, two] = [await links.add(linkOf(alice, 'a/one')), await links.add(linkOf(alice, 'a/two'))];
		const pathsOf = async (hash: string) => {
			const link = await links.find(hash);
			return [link?.path, link?.nextPath].map(String);
		};
		await links.planMoves(
			new Map([
				[one.id, { path: parsePath('a/one'), nextPath: parsePath('b/one') }],
				[two.id, { path: parsePath('a/2'), nextPath: parsePath('b/two') }],
			]),
		);
		t.deepEqual(await pathsOf('hash of a/one'), ['a/one', 'b/one']);
		t.deepEqual(await pathsOf('hash of a/two'), ['a/2', 'b/two']);
		await links.setPaths(new Map([[one.id, parsePath('b/one')]]));
		t.deepEqual(await pathsOf('hash of a/one'), ['b/one', 'undefined']);
		await links.completeMove(two.id, parsePath('c/two'));
		t.deepEqual(await pathsOf('hash of a/two'), ['a/2', 'b/two'], 'a path that is not the planned one is not adopted');
		await links.completeMove(two.id, parsePath('b/two'));
		t.deepEqual(await pathsOf('hash of a/two'), ['b/two', 'undefined']);
	});

	rule('many concurrent downloads of a link are all counted', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const { id } = await links.add(linkOf(alice, 'a'));
		await Promise.all(Array.from({ length: 20 }, () => links.countDownload(id)));
		t.is((await links.find('hash of a'))?.downloads, 20);
	});

	rule('an ended link is found as ended', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const { id } = await links.add(linkOf(alice, 'a'));
		await links.end(id);
		t.true((await links.find('hash of a'))?.isEnded);
	});

	rule('links are removed by id, and only those of the owner if one is given', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const { id } = await links.add(linkOf(alice, 'a'));
		t.is(await links.remove([id], 'another user'), 0);
		t.is(await links.remove([], alice.id), 0);
		const thousands = Array.from({ length: 70_000 }, (_, n) => String(n));
		t.is(await links.remove([...thousands, id, 'another'], alice.id), 1);
		t.is(await links.remove([id]), 0);
		t.is(await links.find('hash of a'), undefined);
	});

	rule('links that expired before a time are swept', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		await links.add(linkOf(alice, 'early', 1000));
		await links.add(linkOf(alice, 'late', 2000));
		t.is(await links.sweep(1000), 0);
		t.is(await links.sweep(2000), 1);
		t.deepEqual(
			(await links.list()).map(({ path }) => String(path)),
			['late'],
		);
	});
}
