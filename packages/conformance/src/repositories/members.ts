import { parsePath } from '@stowage/rules';
import { hostileTexts, linksWithin, type Rule, refuses, second, turnsDuring } from './rules.js';

const folderOf = (owner: { id: string }, path: string) => ({
	ownerId: owner.id,
	path: parsePath(path),
	itemId: `id of ${path}`,
});

const limits = { folders: 9, ofOneOwner: 9, ofAllOwners: 9 };

/** The members of folders. */
export function memberRules(assertThat: Rule): void {
	assertThat('a folder has the members that were set, and each of them has the folder', async (t, db, clock) => {
		const { users, members } = db;
		const [ada, bob, carol] = [
			await users.add({ username: 'Ada', secret: 's' }),
			await users.add({ username: 'bob', secret: 's' }),
			await users.add({ username: 'Carol', secret: 's' }),
		];
		const photos = folderOf(ada, 'docs/Phötos 😀');
		await members.set(
			photos,
			[
				{ userId: carol.id, role: 'view' },
				{ userId: bob.id, role: 'edit' },
			],
			limits,
		);
		const found = await members.find(ada.id, photos.itemId);
		t.deepEqual(found, {
			...{ id: found?.id ?? '', owner: { id: ada.id, username: 'Ada' }, path: photos.path, nextPath: undefined },
			...{ itemId: photos.itemId, createdAt: clock.now },
			members: [
				{ user: { id: carol.id, username: 'Carol' }, role: 'view' },
				{ user: { id: bob.id, username: 'bob' }, role: 'edit' },
			].toSorted((one, other) => (one.user.username < other.user.username ? -1 : 1)) as never,
		});
		t.like((await members.joined(bob.id))[0], { id: found?.id, path: photos.path, role: 'edit', createdAt: clock.now });
		t.deepEqual(await members.joined(ada.id), []);
		t.is(await members.find(bob.id, photos.itemId), undefined);
		for (const text of hostileTexts) t.is(await members.find(ada.id, text), undefined);

		// Who stays keeps the time, and another role.
		const since = clock.now;
		clock.now += second;
		t.true(await members.set(photos, [{ userId: bob.id, role: 'view' }], limits));
		t.false(await members.set(photos, [{ userId: bob.id, role: 'view' }], limits));
		t.like((await members.joined(bob.id))[0], { id: found?.id, role: 'view', createdAt: since });
		t.deepEqual(await members.joined(carol.id), []);
		t.is((await members.list()).length, 1);
		t.true(await members.set(photos, [], limits));
		t.false(await members.set(photos, [], limits));
		t.is(await members.find(ada.id, photos.itemId), undefined);
		t.deepEqual(await members.joined(bob.id), []);
		t.deepEqual(await members.list(), []);
	});

	assertThat('the members of the folders directly in one of their owner are counted', async (t, db) => {
		const { users, members, links } = db;
		const ada = await users.add({ username: 'ada', secret: 's' });
		const bob = await users.add({ username: 'bob', secret: 's' });
		const carol = await users.add({ username: 'carol', secret: 's' });
		const one = { userId: bob.id, role: 'edit' as const };
		const both = [one, { userId: carol.id, role: 'view' as const }];
		await members.set(folderOf(ada, 'a/Phötos 😀'), both, limits);
		await members.set(folderOf(ada, 'a/deep/b'), both, limits);
		await members.set(folderOf(ada, 'a/moved'), [one], limits);
		await members.set(folderOf(ada, 'top'), [one], limits);
		await members.set(folderOf(bob, 'a/of bob'), both.slice(1), limits);
		const [moved] = await linksWithin(links, ada.id, parsePath('a/moved'));
		const id = moved?.id ?? '';
		await links.planMoves(new Map([[id, { path: parsePath('a/moved'), nextPath: parsePath('a/there') }]]));
		const counts = async (folder: string) => Object.fromEntries(await members.countsIn(ada.id, parsePath(folder)));
		t.deepEqual(await counts('a'), { 'Phötos 😀': 2, there: 1 });
		t.deepEqual(await counts('a/deep'), { b: 2 });
		t.deepEqual(await counts(''), { top: 1 });
		t.deepEqual(await counts('a/deep/b'), {});
		for (const text of hostileTexts) t.is((await members.countsIn(text, parsePath('a'))).size, 0);
	});

	assertThat(
		'very many folders of a user are read as of one moment, and others have their turns before and while their members are counted',
		async (t, db) => {
			const { users, members } = db;
			const ada = await users.add({ username: 'ada', secret: 's' });
			const bob = await users.add({ username: 'bob', secret: 's' });
			const many = { folders: 999, ofOneOwner: 999, ofAllOwners: 999 };
			const names = Array.from({ length: 205 }, (_, n) => `f${n}`);
			for (const name of names) await members.set(folderOf(ada, name), [{ userId: bob.id, role: 'view' }], many);
			for (const owner of [undefined, ada.id])
				t.deepEqual((await members.joined(bob.id, owner)).map(({ path }) => path as string).sort(), names.toSorted());
			t.deepEqual(
				(await members.joinedNames(bob.id)).map(({ id }) => id),
				(await members.joined(bob.id)).map(({ id }) => id),
			);
			t.true((await turnsDuring(() => members.joined(bob.id))) >= 1);
			const top = parsePath('');
			const counts = await members.countsIn(ada.id, top);
			t.deepEqual([...counts].sort(), names.map((name) => [name, 1]).sort());
			t.true((await turnsDuring(() => members.countsIn(ada.id, top))) >= 20, 'each folder may have a thousand members');
		},
	);

	assertThat('a folder with members is followed as an item of a link, and is none', async (t, db) => {
		const { users, members, links } = db;
		const ada = await users.add({ username: 'ada', secret: 's' });
		const bob = await users.add({ username: 'bob', secret: 's' });
		await members.set(folderOf(ada, 'a/one'), [{ userId: bob.id, role: 'edit' }], limits);
		t.true(await links.hasAny(ada.id));
		const [row] = await linksWithin(links, ada.id, parsePath('a'));
		t.deepEqual(await links.page({ limit: 10 }), []);
		t.is((await links.page({ limit: 10, withShares: true })).length, 1);
		t.is(await links.find(`members of ${row?.id}`), undefined);
		t.is(await links.sweep(Number.MAX_SAFE_INTEGER), 0);
		await links.planMoves(new Map([[row?.id ?? '', { path: parsePath('a/one'), nextPath: parsePath('b') }]]));
		t.like((await members.joined(bob.id))[0], { path: parsePath('a/one'), nextPath: parsePath('b') });
		const ends = [
			{ first: 'a', last: 'one' },
			{ first: 'b', last: 'b' },
		];
		t.deepEqual(await members.joinedNames(bob.id), [{ id: row?.id ?? '', role: 'edit', owner: 'ada', ends }]);
		const long = `${'ä'.repeat(127)}b`;
		const deep = parsePath(`${long}/😀${'d/'.repeat(300)}${long}`);
		await links.setPaths(new Map([[row?.id ?? '', deep]]));
		t.deepEqual((await members.joinedNames(bob.id))[0]?.ends, [{ first: long, last: long }]);
		await links.setPaths(new Map([[row?.id ?? '', parsePath('b')]]));
		t.like((await members.joined(bob.id))[0], { path: parsePath('b'), nextPath: undefined });
		// What is removed has no members any more.
		t.is(await links.remove([row?.id ?? '']), 1);
		t.deepEqual(await members.joined(bob.id), []);
	});

	assertThat('who leaves a folder, and whose account is removed, is no member any more', async (t, db) => {
		const { users, members, links } = db;
		const ada = await users.add({ username: 'ada', secret: 's' });
		const bob = await users.add({ username: 'bob', secret: 's' });
		const carol = await users.add({ username: 'carol', secret: 's' });
		const both = [
			{ userId: bob.id, role: 'edit' as const },
			{ userId: carol.id, role: 'view' as const },
		];
		await members.set(folderOf(ada, 'one'), both, limits);
		await members.set(folderOf(ada, 'two'), both, limits);
		const [one, two] = await members.joined(bob.id);
		t.false(await members.leave(one?.id ?? '', ada.id));
		t.false(await members.leave('unknown', bob.id));
		t.true(await members.leave(one?.id ?? '', bob.id));
		t.false(await members.leave(one?.id ?? '', bob.id));
		t.deepEqual(
			(await members.joined(bob.id)).map(({ id }) => id),
			[two?.id],
		);
		await users.rename(carol.id, 'caroline', false);
		await users.remove(bob.id);
		t.deepEqual(
			(await members.list(ada.id)).map((folder) => folder.members.map(({ user }) => user.username)),
			[['caroline'], ['caroline']],
		);
		// With the last of them the folder goes.
		t.true(await members.leave(two?.id ?? '', carol.id));
		t.is((await links.page({ limit: 10, withShares: true })).length, 1);
		await users.remove(ada.id);
		t.deepEqual(await members.joined(carol.id), []);
		t.deepEqual(await links.page({ limit: 10, withShares: true }), []);
	});

	assertThat('folders of a disabled owner are not joined, and unknown users can’t be members', async (t, db) => {
		const { users, members } = db;
		const ada = await users.add({ username: 'ada', secret: 's' });
		const bob = await users.add({ username: 'bob', secret: 's' });
		await members.set(folderOf(ada, 'one'), [{ userId: bob.id, role: 'edit' }], limits);
		await users.setDisabled(ada.id, true);
		t.deepEqual(await members.joined(bob.id), []);
		t.deepEqual(await members.joinedNames(bob.id), []);
		await users.setDisabled(ada.id, false);
		t.is((await members.joined(bob.id)).length, 1);
		t.is((await members.joined(bob.id, ada.id)).length, 1);
		t.deepEqual(await members.joined(bob.id, bob.id), []);
		// Nor has a disabled user any.
		await users.setDisabled(bob.id, true);
		t.deepEqual(await members.joined(bob.id), []);
		await users.setDisabled(bob.id, false);
		const unknown = [
			{ userId: bob.id, role: 'view' as const },
			{ userId: 'unknown', role: 'view' as const },
		];
		await refuses(t, 'noSuchUser', () => members.set(folderOf(ada, 'one'), unknown, limits));
		t.is((await members.joined(bob.id))[0]?.role, 'edit');
		await refuses(t, 'notFound', () => members.set(folderOf({ id: 'unknown' }, 'one'), [], limits));
	});

	assertThat('a user shares so many folders with members, also when they are shared at once', async (t, db) => {
		const { users, members } = db;
		const ada = await users.add({ username: 'ada', secret: 's' });
		const bob = await users.add({ username: 'bob', secret: 's' });
		const some = [{ userId: bob.id, role: 'view' as const }];
		const three = { ...limits, folders: 3 };
		const many = await Promise.allSettled(
			Array.from({ length: 6 }, (_, n) => members.set(folderOf(ada, `f${n % 5}`), some, three)),
		);
		t.is((await members.list(ada.id)).length, 3, JSON.stringify(many));
		await refuses(t, 'rateLimited', () => members.set(folderOf(ada, 'more'), some, three));
		await members.set({ ...folderOf(ada, 'f0'), itemId: (await members.list())[0]?.itemId ?? '' }, some, three);
	});
	assertThat('a user is made a member of so many folders of one owner, and of all', async (t, db) => {
		const { users, members } = db;
		const ada = await users.add({ username: 'ada', secret: 's' });
		const bob = await users.add({ username: 'bob', secret: 's' });
		const eve = await users.add({ username: 'eve', secret: 's' });
		const [ofBob, ofEve] = [bob, eve].map(({ id }) => [{ userId: id, role: 'view' as const }]);
		const few = { folders: 9, ofOneOwner: 2, ofAllOwners: 3 };
		const share = (owner: { id: string }, name: string, whom = ofBob) =>
			members.set(folderOf(owner, name), whom ?? [], few);
		await share(ada, 'one');
		await share(ada, 'two');
		await refuses(t, 'rateLimited', () => share(ada, 'three'));
		t.is((await members.joined(bob.id)).length, 2);
		// Others have room, and whoever is a member stays one.
		await share(ada, 'three', ofEve);
		await share(ada, 'two', [...(ofBob ?? []), ...(ofEve ?? [])]);
		await share(eve, 'four');
		await refuses(t, 'rateLimited', () => share(eve, 'five'));
		await share(ada, 'one', []);
		await share(eve, 'five');
		t.is((await members.joined(bob.id)).length, 3);
	});

	assertThat(
		'what members change is counted for the owner, without pauses together, and forgotten in time',
		async (t, db) => {
			const { users, members } = db;
			const ada = await users.add({ username: 'ada', secret: 's' });
			const minute = 60_000;
			const change = (
				folderId: string,
				memberId: string,
				at: number,
				counts = { added: 1, changed: 0, removed: 0 },
			) => ({
				...{ ownerId: ada.id, folderId, memberId, folder: `Phötos ${folderId}`, member: memberId, ...counts },
				...{ begunAt: at * minute, endedAt: at * minute },
			});
			const listed = async () =>
				(await members.changes(ada.id, 100)).map(({ folder, member, added, changed, removed, begunAt, endedAt }) =>
					[folder, member, added, changed, removed, begunAt / minute, endedAt / minute].join(' '),
				);
			await members.countChanges([change('1', 'bob', 100), { ...change('1', 'bob', 100), ownerId: 'gone' }]);
			await Promise.all([
				members.countChanges([change('1', 'bob', 150, { added: 0, changed: 2, removed: 3 })]),
				members.countChanges([change('1', 'bob', 90), change('2', 'bob', 120), change('1', 'carol', 121)]),
			]);
			await members.countChanges([change('1', 'bob', 211)]);
			const others = ['Phötos 1 carol 1 0 0 121 121', 'Phötos 2 bob 1 0 0 120 120'];
			t.deepEqual(await listed(), ['Phötos 1 bob 1 0 0 211 211', 'Phötos 1 bob 2 2 3 90 150', ...others]);
			t.is((await members.changes(ada.id, 2)).length, 2);
			await members.forgetChanges(121 * minute);
			t.deepEqual(await listed(), ['Phötos 1 bob 1 0 0 211 211', 'Phötos 1 bob 2 2 3 90 150', others[0]]);
			for (let n = 0; n < 55; n++) await members.countChanges([change('3', `m${n}`, 300 + n)]);
			t.is((await listed()).filter((line) => line.startsWith('Phötos 3')).length, 50);
			await users.remove(ada.id);
			t.deepEqual(await listed(), []);
		},
	);
}
