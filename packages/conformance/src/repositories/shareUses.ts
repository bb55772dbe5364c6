import type { ClientParts, Stores, UploadRecord } from '@stowage/plugin-api';
import { isFailure, parsePath } from '@stowage/rules';
import { type Rule, refuses, second } from './rules.js';

async function shareOf({ users, shares }: Stores, maxDownloads: number | null = null): Promise<string> {
	const alice = await users.add({ username: 'alice', secret: 's' });
	const share = {
		...{ tokenHash: 'hash', sealedToken: '', ownerId: alice.id, title: '', message: '', mode: 'view' as const },
		...{ asksName: false, expiresAt: null, passwordSecret: null, maxDownloads, maxUploadBytes: null },
		items: [{ path: parsePath('a'), itemId: 'a', type: 'file' as const }],
	};
	return (await shares.add(share, { shares: 10, items: 10 })).id;
}

const partsOf = (share: string, sent: ClientParts['sent'], more: Partial<ClientParts> = {}): ClientParts => ({
	...{ share, client: 'client', content: 'content', size: 100, sent, underWay: [], begun: [] },
	process: 'one',
	...more,
});

/** How shares are used. */
export function shareUseRules(assertThat: Rule): void {
	assertThat('concurrent uses of a share are all counted', async (t, db, clock) => {
		const share = await shareOf(db);
		clock.now += second;
		const use = { share, downloads: 1, bytesSent: 2 ** 33, uploads: 2, bytesReceived: 3 };
		await Promise.all(Array.from({ length: 10 }, () => db.shareUses.add([use, { ...use, share: 'gone' }])));
		t.like(await db.shares.get(share), {
			...{ downloads: 10, bytesSent: 10 * 2 ** 33, uploads: 20, bytesReceived: 30, lastUsedAt: clock.now },
		});
	});

	assertThat('the parts of a content make it whole once, in any order', async (t, db) => {
		const share = await shareOf(db);
		const { shareUses } = db;
		const key = { share, client: 'client', content: 'content' };
		const save = (...parts: Parameters<typeof partsOf>) => shareUses.saveParts([partsOf(...parts)], new Set());
		t.deepEqual(await save(share, [[50, 100]]), []);
		t.deepEqual(await save(share, [[0, 20]]), []);
		t.deepEqual(await save(share, [[10, 50]], { client: 'another' }), []);
		t.deepEqual(await save(share, [[0, 100]], { content: 'another', size: 101 }), []);
		t.deepEqual(await shareUses.parts(key), [
			[0, 20],
			[50, 100],
		]);
		t.deepEqual(await save(share, [[10, 50]]), [{ share, client: 'client' }]);
		t.deepEqual(await shareUses.parts(key), []);
		t.deepEqual(await save(share, [[0, 99]]), []);
		await shareUses.forget(key);
		t.deepEqual(await save(share, [[99, 100]]), []);
		t.deepEqual(await save('gone', [[0, 100]]), []);
	});

	assertThat('a content that is sent in very many parts is whole once all of them were sent', async (t, db) => {
		const share = await shareOf(db);
		const size = 4000;
		const every = (begin: number) =>
			Array.from({ length: size / 2 }, (_, n): [number, number] => [2 * n + begin, 2 * n + begin + 1]);
		const save = (sent: ClientParts['sent']) => db.shareUses.saveParts([partsOf(share, sent, { size })], new Set());
		const [even, odd] = [every(0), every(1)];
		t.deepEqual(await save(even.slice(0, 1200)), []);
		t.deepEqual(await save(even.slice(1200)), []);
		t.true((await db.shareUses.parts(partsOf(share, []))).length <= 500, 'of so many most are kept as a sum');
		t.deepEqual(await save(odd.slice(0, -1)), []);
		t.deepEqual(await save(odd.slice(-1)), [{ share, client: 'client' }]);
		t.deepEqual(await save([[0, size - 1]]), [], 'which is forgotten then');
	});

	assertThat('what was being sent when a process was killed is known by where its client goes on', async (t, db) => {
		const { shareUses } = db;
		const share = await shareOf(db);
		const key = { share, client: 'client', content: 'content' };
		const one = partsOf(share, [[0, 20]], { underWay: [[20, 100]] });
		const goesOn = { process: 'two', begun: [60] };
		await shareUses.saveParts([one], new Set());
		t.deepEqual(await shareUses.senders([key, { ...key, client: 'another' }]), ['one']);
		t.deepEqual(await shareUses.saveParts([partsOf(share, [[60, 100]], goesOn)], new Set(['one'])), [
			{ share, client: 'client' },
		]);
		// One that goes on knows by itself what it has sent.
		await shareUses.saveParts([one], new Set());
		t.deepEqual(await shareUses.saveParts([partsOf(share, [[60, 100]], { begun: [60] })], new Set()), []);
	});

	assertThat(
		'what a process that lives is sending has not arrived, until it is known that it was killed',
		async (t, db) => {
			const { shareUses } = db;
			const share = await shareOf(db);
			const key = { share, client: 'client', content: 'content' };
			const goesOn = { process: 'two', begun: [60] };
			await shareUses.saveParts([partsOf(share, [[0, 20]], { underWay: [[20, 100]] })], new Set());
			const first = partsOf(share, [[60, 70]], { ...goesOn, underWay: [[70, 100]] });
			t.deepEqual(await shareUses.saveParts([first], new Set()), []);
			t.deepEqual((await shareUses.senders([key])).sort(), ['one', 'two']);
			t.deepEqual(await shareUses.saveParts([partsOf(share, [[70, 100]], goesOn)], new Set()), []);
			t.deepEqual(await shareUses.parts(key), [
				[0, 20],
				[60, 100],
			]);
			t.deepEqual(await shareUses.saveParts([partsOf(share, [[99, 100]], goesOn)], new Set(['one'])), [
				{ share, client: 'client' },
			]);
			// It says itself that it is not sending any more.
			await shareUses.saveParts([partsOf(share, [[0, 20]], { underWay: [[20, 100]] })], new Set());
			await shareUses.saveParts([partsOf(share, [[20, 30]])], new Set());
			t.deepEqual(await shareUses.saveParts([partsOf(share, [[60, 100]], goesOn)], new Set(['one'])), []);
		},
	);

	assertThat('of many clients at once exactly as many are admitted as there are downloads', async (t, db, clock) => {
		const share = await shareOf(db, 3);
		const { shareUses, shares } = db;
		const idleSince = clock.now - 10 * second;
		const admit = (client: string, since = idleSince) => shareUses.admit(share, client, since);
		const outcomes = await Promise.all(Array.from({ length: 12 }, (_, n) => admit(`client ${n}`)));
		t.is(outcomes.filter((outcome) => outcome === 'admitted').length, 3);
		const [one = '', two = '', three = ''] = outcomes.flatMap((each, n) =>
			each === 'admitted' ? [`client ${n}`] : [],
		);
		t.is(await admit(one), 'admitted', 'one that is admitted already');
		t.true(await shareUses.mayAdmit(share, one, idleSince));
		t.false(await shareUses.mayAdmit(share, 'another', idleSince));
		t.true(await shareUses.setEnding(share, one, true));
		t.is(await admit(one), 'ending');
		t.true(await shareUses.setEnding(share, one, false));
		t.is(await admit(one), 'admitted');
		const completed = await Promise.all([shareUses.complete(share, one), shareUses.complete(share, one)]);
		t.deepEqual(completed.sort(), [false, true]);
		t.is((await shares.get(share))?.downloads, 1);
		t.is(await admit(one), 'refused', 'once it has its download');

		clock.now += 20 * second;
		await shareUses.touch([{ share, client: two }]);
		const later = clock.now - 10 * second;
		t.true(await shareUses.mayAdmit(share, 'another', later));
		t.is(await admit('another', later), 'admitted', 'what was left unfinished is free again');
		t.is(await admit(three, later), 'refused');
		t.is(await admit(two, later), 'admitted');
		t.is(await shareUses.admit('gone', one, later), 'refused');
	});

	assertThat('of one share what 1,000 clients have got is remembered, until it is swept', async (t, db, clock) => {
		const share = await shareOf(db);
		const all = Array.from({ length: 1010 }, (_, n) => partsOf(share, [[0, 1]], { client: `${n}` }));
		await db.shareUses.saveParts(all.slice(0, 20), new Set());
		clock.now += second;
		await db.shareUses.saveParts(all.slice(20), new Set());
		const kept = await Promise.all(all.map((parts) => db.shareUses.parts(parts)));
		t.is(kept.filter(({ length }) => length > 0).length, 1000);
		t.true(kept.slice(20).every(({ length }) => length > 0));
		await db.shareUses.sweep(clock.now + second);
		t.deepEqual(await db.shareUses.parts(all[1000] as ClientParts), []);
	});
}

/** Files that shares receive. */
export function receivedUploadRules(assertThat: Rule): void {
	const uploadOf = (share: string, userId: string, length: number): UploadRecord => ({
		...{ stagedId: `staged ${length}`, userId, address: '10.0.0.1', area: 'private', directory: parsePath('') },
		...{ name: 'a', mtime: null, onConflict: { kind: 'rename' }, metadata: '', length, offset: 0, entryPath: null },
		...{ startedAt: 0, touchedAt: 10_000, expiresAt: 10 ** 9, itemId: null, received: { share, client: 'c' } },
	});

	assertThat('a share receives no more than it may, also by many uploads at once', async (t, db) => {
		const share = await shareOf(db);
		const { uploads, shares } = db;
		const { owner } = (await shares.get(share)) ?? { owner: { id: '' } };
		await shares.change(share, owner.id, { maxUploadBytes: 1000 });
		const many = await Promise.allSettled(
			Array.from({ length: 6 }, (_, n) => uploads.add(`${n}`, uploadOf(share, owner.id, 300 + n))),
		);
		t.is(many.filter(({ status }) => status === 'fulfilled').length, 3);
		for (const each of many) if (each.status === 'rejected') t.true(isFailure(each.reason, 'tooLarge'));
		const kept = many.findIndex(({ status }) => status === 'fulfilled');
		const record = uploadOf(share, owner.id, 300 + kept);
		t.deepEqual(await uploads.find(`${kept}`), record);
		t.is(await uploads.countVisitorUploads('10.0.0.1', 0), 3);
		t.is((await uploads.unfinishedTotals(owner.id, [])).entries, 3);

		t.false(await uploads.finish(`${kept}`, 'another', 'docs/a', 'item'));
		t.true(await uploads.finish(`${kept}`, record.stagedId ?? '', 'docs/a', 'item'));
		t.false(await uploads.finish(`${kept}`, record.stagedId ?? '', 'docs/a', 'item'));
		t.like(await shares.get(share), { uploads: 1, bytesReceived: 300 + kept, lastUsedAt: 10_000 });
		t.like(await uploads.find(`${kept}`), { received: { share, client: 'c' }, entryPath: 'docs/a', itemId: 'item' });
		await uploads.beginTakeBack(`${kept}`);
		await uploads.beginTakeBack(`${kept}`);
		const begun = { share, client: 'c', isTakenBack: true } as const;
		t.like(await uploads.find(`${kept}`), { received: begun, itemId: 'item' });
		t.like(await shares.get(share), { uploads: 1 });
		await uploads.cancelTakeBack(`${kept}`);
		await uploads.cancelTakeBack(`${kept}`);
		t.like(await uploads.find(`${kept}`), { itemId: 'item' });
		t.deepEqual((await uploads.find(`${kept}`))?.received, { share, client: 'c' });
		await uploads.beginTakeBack('none');
		await uploads.beginTakeBack(`${kept}`);
		await uploads.takeBack(`${kept}`);
		await uploads.takeBack(`${kept}`);
		t.like(await shares.get(share), { uploads: 0, bytesReceived: 0 });
		t.is(await uploads.find(`${kept}`), undefined);
		// What nobody goes on with takes what it has sent, until it goes on.
		const touchedAt = 10_000 + 2 * 60 * 60 * second;
		const later = { ...uploadOf(share, owner.id, 900), touchedAt };
		await uploads.add('later', later);
		const other = many.findLastIndex(({ status }) => status === 'fulfilled');
		await refuses(t, 'tooLarge', () => uploads.claim(`${other}`, touchedAt + second));
		await uploads.claim('later', touchedAt + second);
		await uploads.claim('none', touchedAt);
		await uploads.remove('later');
		await uploads.claim(`${other}`, touchedAt + second);
		await refuses(t, 'tooLarge', () => uploads.add('later', later));
		await refuses(t, 'notFound', () => uploads.add('gone', uploadOf('gone', owner.id, 1)));
	});

	assertThat('what is finished or taken back by many calls at once is counted once', async (t, db) => {
		const share = await shareOf(db);
		const { uploads, shares, shareUses } = db;
		const { owner } = (await shares.get(share)) ?? { owner: { id: '' } };
		await uploads.add('kept', { ...uploadOf(share, owner.id, 7), stagedId: 'kept' });
		await uploads.finish('kept', 'kept', 'a', 'item');
		for (let round = 0; round < 5; round++) {
			const id = `u${round}`;
			await uploads.add(id, { ...uploadOf(share, owner.id, 100), stagedId: id });
			const many = <T>(call: () => Promise<T>) => Promise.all(Array.from({ length: 8 }, call));
			const finished = await many(() => uploads.finish(id, id, 'a', 'item'));
			t.is(finished.filter(Boolean).length, 1);
			t.like(await shares.get(share), { uploads: 2, bytesReceived: 107 });
			await many(() => uploads.takeBack(id));
			t.like(await shares.get(share), { uploads: 1, bytesReceived: 7 });
			t.like((await shareUses.receipts(owner.id, 10))[0], { files: 1, bytes: 7 });
		}
	});

	assertThat('what a share receives is counted together by its sender, and kept without it', async (t, db) => {
		const share = await shareOf(db);
		const { uploads, shares, shareUses } = db;
		const { owner } = (await shares.get(share)) ?? { owner: { id: '' } };
		const minute = 60 * second;
		let count = 0;
		const receive = async (sender: string, touchedAt: number) => {
			const name = `u${++count}`;
			const upload = { ...uploadOf(share, owner.id, 100), stagedId: name, directory: parsePath(sender), touchedAt };
			await uploads.add(name, upload);
			t.true(await uploads.finish(name, name, 'a', 'item'));
			return name;
		};
		const listed = async () =>
			(await shareUses.receipts(owner.id, 10)).map(({ sender, files, bytes, begunAt, endedAt }) =>
				[sender, files, bytes, begunAt / minute, endedAt / minute].join(' '),
			);
		const first = await receive('Grace', 100 * minute);
		await Promise.all([receive('Grace', 150 * minute), receive('Grace', 90 * minute), receive('', 120 * minute)]);
		await receive('grace', 121 * minute);
		const late = await receive('Grace', 211 * minute);
		const lines = ['grace 1 100 121 121', ' 1 100 120 120'];
		t.deepEqual(await listed(), ['Grace 1 100 211 211', 'Grace 3 300 90 150', ...lines]);
		await uploads.takeBack(first);
		await uploads.takeBack(late);
		await uploads.takeBack(late);
		t.deepEqual(await listed(), ['Grace 2 200 90 150', ...lines]);
		const [{ title, share: of } = { title: '', share: '' }] = await shareUses.receipts(owner.id, 1);
		t.deepEqual([title, of], ['a', share], 'without a title it is called by its item');
		await shares.remove(share);
		t.is((await listed()).length, 3);
		await shareUses.forgetReceipts(121 * minute);
		t.deepEqual(await listed(), ['Grace 2 200 90 150', lines[0]]);
		await db.users.remove(owner.id);
		t.deepEqual(await listed(), []);
	});

	assertThat('of senders of one share by the dozen the latest are kept', async (t, db) => {
		const share = await shareOf(db);
		const { uploads, shares, shareUses } = db;
		const { owner } = (await shares.get(share)) ?? { owner: { id: '' } };
		for (let n = 0; n < 60; n++) {
			const upload = { ...uploadOf(share, owner.id, 1), stagedId: `s${n}`, directory: parsePath(`${n}`), touchedAt: n };
			await uploads.add(`u${n}`, upload);
			await uploads.finish(`u${n}`, `s${n}`, 'a', 'item');
		}
		const kept = await shareUses.receipts(owner.id, 1000);
		t.deepEqual([kept.length, kept[0]?.sender, kept.at(-1)?.sender], [50, '59', '10']);
	});
}
