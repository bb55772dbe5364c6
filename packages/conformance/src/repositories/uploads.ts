import type { UploadRecord } from '@stowage/plugin-api';
import { isFailure, parsePath } from '@stowage/rules';
import type { Rule } from './rules.js';

/** A visitor's upload of 100 bytes, of which 40 are stored. */
const upload: UploadRecord = {
	stagedId: 'staged',
	userId: null,
	address: '192.0.2.1',
	area: 'public',
	directory: parsePath(''),
	name: 'a.txt',
	mtime: null,
	onConflict: { kind: 'rename' },
	metadata: '',
	length: 100,
	offset: 40,
	entryPath: null,
	itemId: null,
	received: null,
	startedAt: 500,
	touchedAt: 1000,
	expiresAt: 5000,
};

/** The rows of resumable uploads. */
export function uploadRules(assertThat: Rule): void {
	assertThat('an upload is found as it was added', async (t, { uploads }) => {
		const large: UploadRecord = {
			...upload,
			stagedId: 's'.repeat(255),
			userId: '00000000-0000-0000-0000-000000000000',
			area: 'private',
			directory: parsePath('folder/'.repeat(1000).slice(0, -1)),
			name: '😀'.repeat(63),
			mtime: -8_640_000_000_000_000,
			onConflict: { kind: 'replace', ifMatch: `"${'é'.repeat(998)}"` },
			metadata: 'key value,'.repeat(3000),
			length: Number.MAX_SAFE_INTEGER,
			offset: Number.MAX_SAFE_INTEGER - 1,
			startedAt: null,
		};
		await uploads.add('one', upload);
		await uploads.add('two', large);
		t.deepEqual(await uploads.find('one'), upload);
		t.deepEqual(await uploads.find('two'), large);
		for (const kind of ['fail', 'replace'] as const) {
			await uploads.add(kind, { ...upload, onConflict: { kind } });
			t.deepEqual((await uploads.find(kind))?.onConflict, { kind });
		}
		t.is(await uploads.find('ONE'), undefined);
		t.is(await uploads.find('one '), undefined);
	});

	assertThat('only one of many concurrent requests to begin an upload succeeds', async (t, { uploads }) => {
		const results = await Promise.allSettled(
			Array.from({ length: 8 }, (_, n) => uploads.add('one', { ...upload, name: `${n}` })),
		);
		t.is(results.filter((result) => result.status === 'fulfilled').length, 1);
		for (const result of results) {
			if (result.status === 'rejected') t.true(isFailure(result.reason, 'alreadyExists'), String(result.reason));
		}
	});

	assertThat('an upload is advanced, finished and removed', async (t, { uploads }) => {
		await uploads.add('one', upload);
		await uploads.add('two', upload);
		t.true(await uploads.saveProgress('one', 'staged', { offset: 70, touchedAt: 2000, expiresAt: 6000 }));
		t.deepEqual(await uploads.find('one'), { ...upload, offset: 70, touchedAt: 2000, expiresAt: 6000 });
		t.true(await uploads.finish('one', 'staged', 'docs/a (1).txt', 'item'));
		t.like(await uploads.find('one'), { offset: 100, stagedId: null, entryPath: 'docs/a (1).txt', itemId: 'item' });
		t.deepEqual(await uploads.find('two'), upload);
		const removed = await Promise.all(Array.from({ length: 8 }, () => uploads.remove('one')));
		t.deepEqual(removed.filter(Boolean), [true]);
		t.is(await uploads.find('one'), undefined);
		t.deepEqual(await uploads.find('two'), upload);
	});

	assertThat(
		'an upload that continues in another staged file cannot be changed by the writer of the former one',
		async (t, { uploads }) => {
			await uploads.add('one', upload);
			t.false(await uploads.restage('one', 'other', 'third'));
			t.false(await uploads.restage('two', 'staged', 'third'));
			t.true(await uploads.restage('one', 'staged', 'other'));
			t.false(await uploads.saveProgress('one', 'staged', { offset: 70, touchedAt: 2000, expiresAt: 6000 }));
			t.false(await uploads.finish('one', 'staged', 'a.txt', 'item'));
			t.deepEqual(await uploads.find('one'), { ...upload, stagedId: 'other' });
			t.true(await uploads.finish('one', 'other', 'a.txt', 'item'));
			t.false(await uploads.finish('one', 'other', 'b.txt', 'item'));
			t.false(await uploads.restage('one', 'other', 'staged'));
		},
	);

	assertThat('unfinished uploads of visitors are counted by address', async (t, { uploads }) => {
		await uploads.add('one', upload);
		await uploads.add('two', upload);
		await uploads.add('done', upload);
		await uploads.finish('done', 'staged', 'a.txt', 'item');
		await uploads.add('late', { ...upload, expiresAt: 10 });
		await uploads.add('elsewhere', { ...upload, address: '192.0.2.2' });
		await uploads.add('of a user', { ...upload, userId: 'ada' });
		t.is(await uploads.countVisitorUploads('192.0.2.1', 10), 2);
		t.is(await uploads.countVisitorUploads('192.0.2.3', 10), 0);
	});

	assertThat(
		'visitors of one address cannot begin more than the limit of uploads, also concurrently',
		async (t, { uploads }) => {
			await uploads.add('finished', upload, 2);
			await uploads.finish('finished', 'staged', 'a.txt', 'item');
			await uploads.add('late', { ...upload, expiresAt: 10 }, 2);
			const results = await Promise.allSettled(
				Array.from({ length: 8 }, (_, n) => uploads.add(`upload ${n}`, { ...upload, stagedId: `staged ${n}` }, 2)),
			);
			t.is(results.filter((result) => result.status === 'fulfilled').length, 2);
			for (const result of results) {
				if (result.status === 'rejected') t.true(isFailure(result.reason, 'rateLimited'), String(result.reason));
			}
			t.is(await uploads.countVisitorUploads('192.0.2.1', 1000), 2);
			await uploads.add('elsewhere', { ...upload, stagedId: 'elsewhere', address: '192.0.2.2' }, 2);
		},
	);

	assertThat(
		'the stored bytes of unfinished uploads are summed, for each user and for visitors',
		async (t, { uploads }) => {
			t.deepEqual(await uploads.unfinishedTotals(null, []), { bytes: 0, entries: 0 });
			await uploads.add('one', { ...upload, offset: 40, stagedId: 's1' });
			await uploads.add('two', { ...upload, offset: 0, stagedId: 's2' });
			await uploads.add('hers', { ...upload, userId: 'ada', offset: 2 ** 45, stagedId: 's3' });
			await uploads.add('done', { ...upload, offset: 40, stagedId: 's4' });
			await uploads.finish('done', 's4', 'a.txt', 'item');
			t.deepEqual(await uploads.unfinishedTotals(null, []), { bytes: 40, entries: 2 });
			t.deepEqual(await uploads.unfinishedTotals(null, ['s1', 's3']), { bytes: 0, entries: 1 });
			t.deepEqual(await uploads.unfinishedTotals('ada', ['s1']), { bytes: 2 ** 45, entries: 1 });
			t.deepEqual(await uploads.unfinishedTotals('bob', []), { bytes: 0, entries: 0 });
		},
	);

	assertThat(
		'an unfinished upload counts for the owner of its folder as long as its sender may change that, and then for the sender',
		async (t, { uploads, users, members }) => {
			const ada = await users.add({ username: 'ada', secret: 's' });
			const bob = await users.add({ username: 'bob', secret: 's' });
			const folder = { ownerId: ada.id, path: parsePath('Photos'), itemId: '1' };
			const share = (role: 'view' | 'edit') =>
				members.set(folder, [{ userId: bob.id, role }], { folders: 9, ofOneOwner: 9, ofAllOwners: 9 });
			await share('edit');
			const folderId = (await members.find(ada.id, '1'))?.id ?? '';
			await uploads.add('shared', { ...upload, userId: bob.id, payerId: ada.id, folderId, offset: 40, stagedId: 's1' });
			const totals = async () => {
				const found = await Promise.all([ada, bob].map(({ id }) => uploads.unfinishedTotals(id, [])));
				return found.map(({ bytes, entries }) => [bytes, entries]);
			};
			const [none, one] = [
				[0, 0],
				[40, 1],
			];
			t.deepEqual(await totals(), [one, none]);
			await share('view');
			t.deepEqual(await totals(), [none, one]);
			await share('edit');
			t.deepEqual(await totals(), [one, none]);
			await members.leave(folderId, bob.id);
			t.deepEqual(await totals(), [none, one]);
		},
	);

	assertThat('unfinished uploads of a user are listed, the most recently written one first', async (t, { uploads }) => {
		const own = { ...upload, userId: 'alice' };
		await uploads.add('one', { ...own, stagedId: '1', touchedAt: 1 });
		await uploads.add('two', { ...own, stagedId: '2', touchedAt: 2 });
		await uploads.add('done', { ...own, stagedId: '3' });
		await uploads.finish('done', '3', 'a.txt', 'item');
		await uploads.add('other', { ...upload, userId: 'bob' });
		t.is(await uploads.countUserUploads('alice'), 2);
		const listed = await uploads.listUnfinished('alice');
		t.deepEqual(
			listed.map(({ stagedId }) => stagedId),
			['2', '1'],
		);
		const all = await uploads.listAllUnfinished();
		t.deepEqual(
			all.map(({ idHash, userId }) => [idHash, userId]),
			[
				['other', 'bob'],
				['two', 'alice'],
				['one', 'alice'],
			],
		);
	});

	assertThat('an upload can be made to expire later, but not sooner', async (t, { uploads }) => {
		await uploads.add('one', { ...upload, expiresAt: 1000 });
		await uploads.extendExpiry('one', 5000);
		t.deepEqual(await uploads.listExpired(4000, 10), []);
		await uploads.extendExpiry('one', 3000);
		t.deepEqual(await uploads.find('one'), { ...upload, expiresAt: 5000 });
		await uploads.extendExpiry('unknown', 5000);
	});

	assertThat(
		'an expired upload is listed until its file is dropped, and found until its row is removed',
		async (t, { uploads }) => {
			await uploads.add('one', { ...upload, expiresAt: 3000 });
			await uploads.add('two', { ...upload, stagedId: 'other', expiresAt: 2000 });
			await uploads.add('done', { ...upload, expiresAt: 1000 });
			await uploads.finish('done', 'staged', 'a.txt', 'item');
			await uploads.add('young', upload);
			t.deepEqual(await uploads.listExpired(3000, 10), [
				{ idHash: 'two', stagedId: 'other' },
				{ idHash: 'one', stagedId: 'staged' },
			]);
			t.is((await uploads.listExpired(3000, 1)).length, 1);
			t.deepEqual(await uploads.listExpired(3000, 1, 1), [{ idHash: 'one', stagedId: 'staged' }]);
			t.deepEqual(await uploads.listExpired(3000, 1, 2), []);
			t.true(await uploads.isStaged('other'));
			t.deepEqual([await uploads.countStaged('oth'), await uploads.countStaged('OTH')], [1, 0]);
			t.false(await uploads.isStaged('OTHER'));
			await uploads.clearStaged('two');
			t.false(await uploads.isStaged('other'));
			t.deepEqual(await uploads.listExpired(3000, 10), [{ idHash: 'one', stagedId: 'staged' }]);
			t.like(await uploads.find('two'), { stagedId: null, entryPath: null });
			t.is(await uploads.forget(2000), 2);
			t.is(await uploads.find('two'), undefined);
			t.deepEqual(await uploads.find('young'), upload);
		},
	);
}
