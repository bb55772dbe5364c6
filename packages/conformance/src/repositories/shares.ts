import type { NewShare, SharedItemsPart, ShareHead, ShareRecord } from '@stowage/plugin-api';
import { parsePath } from '@stowage/rules';
import { day, hostileTexts, linksWithin, type Rule, refuses, second, turnsDuring } from './rules.js';

const limits = { shares: 3, items: 5 };

const shareOf = (owner: { id: string }, name: string, items: readonly string[] = [name]): NewShare => ({
	tokenHash: `hash of ${name}`,
	sealedToken: `sealed ${name}`,
	ownerId: owner.id,
	title: `${name} 😀`,
	message: '',
	mode: 'view',
	asksName: false,
	expiresAt: null,
	passwordSecret: null,
	maxDownloads: null,
	maxUploadBytes: null,
	items: items.map((path) => ({ path: parsePath(path), itemId: `id of ${path}`, type: 'file' as const })),
});

/** Shares. */
export function shareRules(assertThat: Rule): void {
	assertThat('a share is found by the hash of its token as it was added', async (t, { users, shares }, clock) => {
		const alice = await users.add({ username: 'Alice', secret: 's' });
		const items = ['docs/ä 😀.txt', 'b', 'a'];
		const added = await shares.add({ ...shareOf(alice, 'one', items), expiresAt: clock.now + day }, limits);
		const owner = { id: alice.id, username: 'Alice' };
		t.deepEqual(added, {
			...{ id: added.id, owner, sealedToken: 'sealed one', title: 'one 😀', message: '', mode: 'view' },
			...{ asksName: false, createdAt: clock.now, expiresAt: clock.now + day, isEnded: false, passwordSecret: null },
			...{ maxDownloads: null, maxUploadBytes: null, isPaused: false, lastUsedAt: null },
			...{ downloads: 0, bytesSent: 0, uploads: 0, bytesReceived: 0 },
			items: items.map((path, at) => ({
				...{ id: added.items[at]?.id ?? '', owner, path: parsePath(path), nextPath: undefined },
				...{ itemId: `id of ${path}`, type: 'file' as const },
			})),
		});
		const { items: records, ...head } = added;
		t.deepEqual(await shares.find('hash of one'), head);
		t.deepEqual(await shares.findById(added.id), head);
		t.is(await shares.findById('unknown'), undefined);
		t.deepEqual(await shares.itemsOf(head), { items: records, last: undefined });
		t.deepEqual(await shares.itemsOf(head, 0), { items: records.slice(1), last: undefined });
		t.deepEqual(await shares.itemsOf({ ...head, id: 'unknown' }), { items: [], last: undefined });
		t.deepEqual(await shares.get(added.id, alice.id), added);
		t.is(await shares.get(added.id, 'another user'), undefined);
		t.is(await shares.find('HASH of one'), undefined);
		for (const text of hostileTexts) t.is(await shares.find(text), undefined);
	});

	assertThat('the items of shares are followed as those of links, and are no links', async (t, db) => {
		const { users, shares, links } = db;
		const alice = await users.add({ username: 'alice', secret: 's' });
		t.false(await links.hasAny(alice.id));
		const { id, owner, items } = await shares.add(shareOf(alice, 'one', ['a/one', 'two']), limits);
		const [one, two] = items;
		t.true(await links.hasAny(alice.id));
		t.deepEqual(
			(await linksWithin(links, alice.id, parsePath('a'))).map(({ id }) => id),
			[one?.id],
		);
		t.deepEqual(await links.page({ limit: 10 }), []);
		t.is((await links.page({ limit: 10, withShares: true })).length, 2);
		t.is(await links.find(`item 0 of ${items[0]?.id}`), undefined);
		await links.setPaths(new Map([[one?.id ?? '', parsePath('b/one')]]));
		t.is(await links.sweep(Number.MAX_SAFE_INTEGER), 0);
		t.is(await links.remove([two?.id ?? '']), 1);
		t.deepEqual(
			(await shares.itemsOf({ id, owner })).items.map(({ path }) => String(path)),
			['b/one'],
		);
		// They count in no limit of links, nor give way to new ones.
		const link = { tokenHash: 'h', ownerId: alice.id, path: parsePath('c'), itemId: 'i', expiresAt: Date.UTC(2031) };
		await links.add(link, 1);
		t.is((await shares.itemsOf({ id, owner })).items.length, 1);
	});

	assertThat('a user has so many shares and items in them, also when they are made at once', async (t, db) => {
		const { users, shares } = db;
		const alice = await users.add({ username: 'alice', secret: 's' });
		const bob = await users.add({ username: 'bob', secret: 's' });
		const many = await Promise.allSettled(
			Array.from({ length: 8 }, (_, n) => shares.add(shareOf(alice, `s${n}`), limits)),
		);
		t.is(many.filter(({ status }) => status === 'fulfilled').length, limits.shares);
		await refuses(t, 'rateLimited', () => shares.add(shareOf(alice, 'more'), limits));
		await shares.add(shareOf(bob, 'bobs', ['1', '2', '3']), limits);
		await refuses(t, 'rateLimited', () => shares.add(shareOf(bob, 'bobs too', ['4', '5', '6']), limits));
		await shares.add(shareOf(bob, 'bobs other', ['4', '5']), limits);
		t.is((await shares.page({ limit: 10 })).length, 5);
		await refuses(t, 'notFound', () => shares.add(shareOf({ id: 'nobody' }, 'none'), limits));
	});

	assertThat('a share of a disabled user is not found, and that of a removed user is gone', async (t, db) => {
		const { users, shares, links } = db;
		const alice = await users.add({ username: 'alice', secret: 's' });
		const { id } = await shares.add(shareOf(alice, 'one'), limits);
		await users.setDisabled(alice.id, true);
		t.is(await shares.find('hash of one'), undefined);
		t.is(await shares.findById(id), undefined);
		t.truthy(await shares.get(id));
		await users.setDisabled(alice.id, false);
		t.truthy(await shares.find('hash of one'));
		await users.remove(alice.id);
		t.is(await shares.get(id), undefined);
		t.deepEqual(await links.page({ limit: 10, withShares: true }), []);
	});

	assertThat('a share is changed and removed by its owner only', async (t, { users, shares, links }, clock) => {
		const alice = await users.add({ username: 'alice', secret: 's' });
		const { id } = await shares.add({ ...shareOf(alice, 'one'), expiresAt: clock.now + day }, limits);
		t.is(await shares.change(id, 'another user', { title: 'mine' }), undefined);
		t.is(await shares.change('unknown', alice.id, {}), undefined);
		t.is(await shares.change(id, alice.id, {}), 'same');
		await shares.end(id, clock.now);
		t.false((await shares.get(id))?.isEnded);
		await shares.end(id, clock.now + day);
		t.true((await shares.get(id))?.isEnded);
		const changes = { isPaused: true, passwordSecret: 'p', maxDownloads: 2 ** 40 };
		t.is(await shares.change(id, alice.id, changes), 'changed');
		t.is(await shares.change(id, alice.id, { ...changes, maxUploadBytes: null, title: 'one 😀' }), 'same');
		t.is(await shares.change(id, alice.id, { title: 'One 😀' }), 'changed');
		t.is(await shares.change(id, alice.id, { title: 'one 😀' }), 'changed');
		// Its end is given to it again.
		t.is(await shares.change(id, alice.id, { expiresAt: clock.now + day }), 'changed');
		t.false((await shares.get(id))?.isEnded);
		await shares.end(id, clock.now + day);
		t.like(await shares.get(id), { isEnded: true, isPaused: true, passwordSecret: 'p', maxDownloads: 2 ** 40 });
		t.is(await shares.change(id, alice.id, { expiresAt: null, passwordSecret: null }), 'changed');
		t.like(await shares.get(id), { isEnded: false, expiresAt: null, passwordSecret: null, title: 'one 😀' });
		t.false(await shares.remove(id, 'another user'));
		t.true(await shares.remove(id, alice.id));
		t.false(await shares.remove(id));
		t.deepEqual(await links.page({ limit: 10, withShares: true }), []);
	});

	assertThat(
		'the items of large shares are read in their order, in parts between which others have turns',
		async (t, db) => {
			const { users, shares } = db;
			const alice = await users.add({ username: 'alice', secret: 's' });
			const all = { shares: 9, items: 999 };
			const paths = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name}/${count - n}`);
			const expected = new Map([
				['one', paths('one', 450)],
				['two', paths('two', 3)],
				['three', paths('three', 200)],
				['four', paths('four', 1)],
			]);
			const made: ShareRecord[] = [];
			for (const [name, items] of expected) made.push(await shares.add(shareOf(alice, name, items), all));
			const pathsOf = async (share: ShareRecord) => {
				const found: string[] = [];
				let parts = 0;
				for (let last: number | undefined = -1; last !== undefined; parts++) {
					const part: SharedItemsPart = await shares.itemsOf(share, last);
					found.push(...part.items.map(({ path }) => path));
					last = part.last;
				}
				return { found, parts };
			};
			for (const [at, items] of [...expected.values()].entries())
				t.deepEqual((await pathsOf(made[at] as ShareRecord)).found, items);
			t.is((await pathsOf(made[3] as ShareRecord)).parts, 1);
			const page = await shares.page({ limit: 9 });
			t.is(page.length, 4);
			t.false('items' in (page[0] ?? {}));
			for (let rest: readonly ShareHead[] = page; rest.length > 0; ) {
				const part = await shares.withItems(rest);
				const heads = rest.slice(0, part.length);
				rest = rest.slice(part.length);
				t.true(part.length === 1 || part.reduce((sum, { items }) => sum + items.length, 0) <= 204);
				for (const [at, { items, ...head }] of part.entries()) {
					t.deepEqual(head, heads[at]);
					t.deepEqual(
						items.map(({ path }) => path as string),
						expected.get(head.sealedToken.replace('sealed ', '')),
					);
				}
				if (part.length === 0) return t.fail();
			}
			t.deepEqual(await shares.withItems([]), []);
			const gone = { ...(page[0] as ShareHead), id: 'gone' };
			t.deepEqual(await shares.withItems([gone]), [{ ...gone, items: [] }]);
			const [one] = made as [ShareRecord];
			t.true((await turnsDuring(() => shares.get(one.id))) >= 2);
			t.true((await turnsDuring(() => pathsOf(one))) >= 2);
			const again = shareOf(alice, 'again', paths('again', 1000));
			t.true(
				(await turnsDuring(() => shares.add(again, { shares: 9, items: 9_999 }))) >= 7,
				'others read while it is made',
			);
		},
	);

	assertThat('shares are listed by pages, the newest first, also those of one moment', async (t, db, clock) => {
		const { users, shares } = db;
		const alice = await users.add({ username: 'alice', secret: 's' });
		const bob = await users.add({ username: 'bob', secret: 's' });
		for (let n = 0; n < 6; n++) {
			if (n % 4 === 0) clock.now += second;
			await shares.add(shareOf(n % 3 === 0 ? bob : alice, `s${n}`), { shares: 10, items: 10 });
		}
		const whole = await shares.page({ limit: 10 });
		const paged = [];
		for (let page = await shares.page({ limit: 2 }); page.length > 0; ) {
			paged.push(...page);
			const after = page.at(-1);
			page = after === undefined ? [] : await shares.page({ limit: 2, after });
		}
		t.deepEqual(paged, whole);
		t.deepEqual(
			whole.map(({ createdAt }) => createdAt),
			[...whole.map(({ createdAt }) => createdAt)].sort().reverse(),
		);
		t.is((await shares.page({ limit: 10, ownerId: bob.id })).length, 2);
		t.deepEqual(await shares.page({ limit: 10, ownerId: 'nobody' }), []);
	});
}
