import { parsePath } from '@stowage/rules';
import { day, hostileTexts, linksWithin, type Rule, refuses, second, turnsDuring } from './rules.js';

const linkOf = (owner: { id: string }, name: string, expiresAt = 1000) => ({
	tokenHash: `hash of ${name}`,
	ownerId: owner.id,
	path: parsePath(name),
	itemId: `id of ${name}`,
	expiresAt,
});

/** Temporary links. */
export function linkRules(assertThat: Rule): void {
	assertThat('a link is found by the hash of its token as it was added', async (t, { users, links }, clock) => {
		const alice = await users.add({ username: 'Alice', secret: 's' });
		const added = await links.add(linkOf(alice, 'docs/ä 😀.txt', clock.now + day), 10);
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

	assertThat(
		'the links of a disabled user are not found until the user is enabled again',
		async (t, { users, links }) => {
			const alice = await users.add({ username: 'alice', secret: 's' });
			await links.add(linkOf(alice, 'a'), 10);
			await users.setDisabled(alice.id, true);
			t.is(await links.find('hash of a'), undefined);
			t.is((await links.page({ ownerId: alice.id, limit: 10 })).length, 1);
			await users.setDisabled(alice.id, false);
			t.truthy(await links.find('hash of a'));
		},
	);

	assertThat('removing a user removes their links, and a link needs an existing user', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		await links.add(linkOf(alice, 'a'), 10);
		await users.remove(alice.id);
		t.is(await links.find('hash of a'), undefined);
		t.deepEqual(await links.page({ limit: 10 }), []);
		await refuses(t, 'notFound', () => links.add(linkOf(alice, 'b'), 10));
	});

	assertThat('links are listed by owner, the newest first', async (t, { users, links }, clock) => {
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
			await links.add(linkOf(owner, name), 10);
		}
		const namesOf = async (ownerId?: string) =>
			(await links.page({ limit: 10, ...(ownerId === undefined ? {} : { ownerId }) })).map(({ path }) => String(path));
		t.deepEqual(await namesOf(), ['three', 'two', 'one']);
		t.deepEqual(await namesOf(alice.id), ['three', 'one']);
		t.deepEqual(await namesOf('unknown'), []);
	});

	assertThat('a planned path is kept beside the old one until the move is confirmed', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const [one, two] = [await links.add(linkOf(alice, 'a/one'), 10), await links.add(linkOf(alice, 'a/two'), 10)];
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

	assertThat(
		'a link is bound to another item while its place is certain, or to one at either end of a planned move, which settles it',
		async (t, { users, links }) => {
			const alice = await users.add({ username: 'alice', secret: 's' });
			const { id } = await links.add(linkOf(alice, 'a'), 10);
			const [a, b, c] = [parsePath('a'), parsePath('b/ä'), parsePath('c')];
			const state = async () => {
				const [link] = await links.get([id]);
				return [link?.itemId, link?.path, link?.nextPath];
			};
			t.false(await links.rebind(id, 'another', 'two'));
			t.true(await links.rebind(id, 'id of a', 'two'));
			t.false(await links.rebind(id, 'two', 'three', c), 'it is elsewhere');
			t.true(await links.rebind(id, 'two', 'three', a));
			t.deepEqual(await state(), ['three', a, undefined]);
			await links.planMoves(new Map([[id, { path: a, nextPath: b }]]));
			t.false(await links.rebind(id, 'three', 'four'));
			t.false(await links.rebind(id, 'three', 'four', c));
			t.false(await links.rebind(id, 'another', 'four', b));
			t.deepEqual(await state(), ['three', a, b]);
			t.true(await links.rebind(id, 'three', 'four', b));
			t.deepEqual(await state(), ['four', b, undefined]);
			await links.planMoves(new Map([[id, { path: b, nextPath: c }]]));
			t.true(await links.rebind(id, 'four', 'five', b));
			t.deepEqual(await state(), ['five', b, undefined]);
			t.false(await links.rebind('unknown', 'five', 'six', b));
		},
	);

	assertThat('many concurrent downloads of a link are all counted', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const { id } = await links.add(linkOf(alice, 'a'), 10);
		await Promise.all(Array.from({ length: 20 }, () => links.countDownload(id)));
		t.is((await links.find('hash of a'))?.downloads, 20);
	});

	assertThat('an ended link is found as ended', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const { id } = await links.add(linkOf(alice, 'a'), 10);
		await links.end(id);
		t.true((await links.find('hash of a'))?.isEnded);
	});

	assertThat('links are removed by id, and only those of the owner if one is given', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const { id } = await links.add(linkOf(alice, 'a'), 10);
		t.is(await links.remove([id], 'another user'), 0);
		t.is(await links.remove([], alice.id), 0);
		const thousands = Array.from({ length: 70_000 }, (_, n) => String(n));
		t.is(await links.remove([...thousands, id, 'another'], alice.id), 1);
		t.is(await links.remove([id]), 0);
		t.is(await links.find('hash of a'), undefined);
	});

	assertThat('links that expired before a time are swept', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		await links.add(linkOf(alice, 'early', 1000), 10);
		await links.add(linkOf(alice, 'late', 2000), 10);
		t.is(await links.sweep(1000), 0);
		t.is(await links.sweep(2000), 1);
		t.deepEqual(
			(await links.page({ limit: 10 })).map(({ path }) => String(path)),
			['late'],
		);
	});

	assertThat('links are listed by pages, also those of one moment', async (t, { users, links }, clock) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const bob = await users.add({ username: 'bob', secret: 's' });
		for (let n = 0; n < 7; n++) {
			if (n % 3 === 0) clock.now += second;
			await links.add(linkOf(alice, `a${n}`, clock.now + day), 10);
			await links.add(linkOf(bob, `b${n}`, clock.now + day), 10);
		}
		const all = await links.page({ limit: 20 });
		t.is(all.length, 14);
		for (const ownerId of [undefined, alice.id]) {
			const owner = ownerId === undefined ? {} : { ownerId };
			const found: string[] = [];
			for (let page = await links.page({ limit: 3, ...owner }); page.length > 0; ) {
				t.true(page.length <= 3);
				found.push(...page.map(({ id }) => id));
				const [last] = page.slice(-1);
				if (last === undefined) break;
				// A link may be gone when the next page is asked for.
				if (ownerId !== undefined) await links.remove([last.id]);
				page = await links.page({ limit: 3, after: { createdAt: last.createdAt, id: last.id }, ...owner });
			}
			const wanted = all.filter(({ owner: { id } }) => ownerId === undefined || id === ownerId);
			t.deepEqual(
				found,
				wanted.map(({ id }) => id),
			);
		}
		t.true(await links.hasAny(bob.id));
		t.false(await links.hasAny('unknown'));
	});

	assertThat(
		'the links to an item and to what is below it are found, by the planned path too',
		async (t, { users, links }) => {
			const alice = await users.add({ username: 'alice', secret: 's' });
			const bob = await users.add({ username: 'bob', secret: 's' });
			// Longer than what a database may index of a path.
			const deep = ['a', ...Array.from({ length: 4 }, () => 'ä'.repeat(120))].join('/');
			const names = ['a', 'a/b', 'a/b/c', 'a.txt', 'a-b/c', 'a0', 'A/b', 'a /b', 'b', `${deep}/x`, 'a/%', 'a/_'];
			for (const [n, name] of names.entries())
				await links.add({ ...linkOf(alice, name), tokenHash: `hash ${n}`, itemId: `id ${n}` }, 100);
			await links.add({ ...linkOf(bob, 'a/b'), tokenHash: 'of bob' }, 100);
			const namesIn = async (path: string) =>
				(await linksWithin(links, alice.id, parsePath(path))).map(({ path }) => String(path)).sort();
			t.deepEqual(await namesIn('a'), ['a', 'a/b', 'a/b/c', 'a/%', 'a/_', `${deep}/x`].sort());
			t.deepEqual(await namesIn('a/b'), ['a/b', 'a/b/c']);
			t.deepEqual(await namesIn('a/_'), ['a/_']);
			t.deepEqual(await namesIn(deep), [`${deep}/x`]);
			t.deepEqual(await namesIn('a/b/c/d'), []);
			t.is((await namesIn('')).length, names.length);
			const [moved] = await linksWithin(links, alice.id, parsePath('b'));
			await links.planMoves(new Map([[String(moved?.id), { path: parsePath('b'), nextPath: parsePath('z/b') }]]));
			t.deepEqual([await namesIn('z'), await namesIn('b')], [['b'], ['b']]);
		},
	);

	assertThat('many links are moved together', async (t, { users, links }) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const ids: string[] = [];
		for (let n = 0; n < 450; n++) ids.push((await links.add(linkOf(alice, `a/${n}`), 1000)).id);
		const [other] = [await links.add(linkOf(alice, 'other'), 1000)];
		const plan = ids.map((id, n) => [id, { path: parsePath(`a/${n}`), nextPath: parsePath(`b/${n}`) }] as const);
		let isPlanned = false;
		const planning = links.planMoves(new Map(plan)).finally(() => {
			isPlanned = true;
		});
		await links.countDownload(other.id);
		t.false(isPlanned, 'others write between two parts');
		await planning;
		t.is((await linksWithin(links, alice.id, parsePath('b'))).length, 450);
		t.is((await linksWithin(links, alice.id, parsePath('b/7'))).length, 1);
		t.is((await linksWithin(links, alice.id, parsePath(''))).length, 451);
		for (const path of ['a', '']) {
			const turns = await turnsDuring(() => linksWithin(links, alice.id, parsePath(path)));
			t.true(turns >= 2, 'others have turns while many are read');
		}
		t.true((await turnsDuring(() => links.get(ids))) >= 2);
		await links.setPaths(new Map(ids.map((id, n) => [id, parsePath(`b/${n}`)])));
		const found = await links.get([...ids, 'unknown']);
		t.deepEqual(
			Object.fromEntries(found.map(({ id, path, nextPath }) => [id, [String(path), nextPath]])),
			Object.fromEntries(ids.map((id, n) => [id, [`b/${n}`, undefined]])),
		);
		t.like((await links.get([other.id]))[0], { path: 'other', nextPath: undefined });
		t.is(await links.pathBytes(alice.id), 'other'.length + ids.reduce((sum, _, n) => sum + `b/${n}`.length, 0));
		t.is(await links.pathBytes('nobody'), 0);
		await links.planMoves(new Map());
	});

	assertThat(
		'a user has at most so many links, and those that expired first give way',
		async (t, { users, links }, clock) => {
			const alice = await users.add({ username: 'alice', secret: 's' });
			const bob = await users.add({ username: 'bob', secret: 's' });
			for (const [n, name] of ['a', 'b', 'c'].entries())
				await links.add(linkOf(alice, name, clock.now + (3 - n) * second), 3);
			await refuses(t, 'rateLimited', () => links.add(linkOf(alice, 'd', clock.now + day), 3));
			await links.add(linkOf(bob, 'd', clock.now + day), 3);
			const names = async () =>
				(await links.page({ ownerId: alice.id, limit: 10 })).map(({ path }) => String(path)).sort();
			clock.now += 2 * second;
			await links.add(linkOf(alice, 'e', clock.now + day), 3);
			t.deepEqual(await names(), ['a', 'b', 'e'], 'b has expired as well');
			const [a] = await linksWithin(links, alice.id, parsePath('a'));
			await links.end(String(a?.id));
			// More than there may be, as after a limit that was lowered.
			await links.add(linkOf(alice, 'f', clock.now + day), 2);
			t.deepEqual(await names(), ['e', 'f']);
			const late = ['g', 'h', 'i'].map((name) => links.add(linkOf(alice, name, clock.now + day), 3));
			const outcomes = await Promise.allSettled(late);
			t.is(outcomes.filter(({ status }) => status === 'fulfilled').length, 1, 'concurrent calls are counted');
		},
	);
}
