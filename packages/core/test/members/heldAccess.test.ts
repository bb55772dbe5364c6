import type { Files, ItemRef, MemberStore } from '@stowage/plugin-api';
import { Failure, parsePath, type Viewer } from '@stowage/rules';
import test from 'ava';
import { usualMs } from '../../../../test/processorTime.js';
import { sharedReads } from '../../src/files/shared/sharedReads.js';
import { enterFolder } from '../../src/members/enterFolder.js';
import { type Held, HeldAccess } from '../../src/members/HeldAccess.js';
import { SharedFolders } from '../../src/members/SharedFolders.js';
import { WatchedLists } from '../../src/members/WatchedLists.js';
import { until } from '../until.js';
import { memberFixture, sharedNames } from './memberFixture.js';

/** Folders of one owner, each of which is at its place; the reads of the database are counted. */
function countingFolders(count: number) {
	const owner = { id: 'id of ada', username: 'ada' };
	let reads = 0;
	let counts = 0;
	let role: 'view' | 'edit' = 'edit';
	const itemOf = (path: string) => ({ type: 'directory', id: path, mayReuseId: false }) as never;
	let wholeReads = 0;
	const each = <T>(folderOf: (name: string) => T) => {
		reads++;
		return Array.from({ length: count }, (_, n) => ({ id: `${n}`, role, createdAt: n, ...folderOf(`f${n}`) }));
	};
	const folders = new SharedFolders({
		store: {
			countsIn: async () => new Map([[parsePath(`f${counts}`), ++counts]]),
			async joined() {
				wholeReads++;
				return each((name) => ({ owner, path: parsePath(name), nextPath: undefined, itemId: `users/ada/${name}` }));
			},
			joinedNames: async () => each((name) => ({ owner: 'ada', ends: [{ first: name, last: name }] })),
		},
		rootOf: async () => 'first',
		storage: () => ({
			stat: async (path: string) => itemOf(path),
			async *list() {},
			open: () => Promise.reject(new Error()),
			count: async () => 0,
		}),
	});
	return {
		folders,
		reads: () => reads,
		wholeReads: () => wholeReads,
		counts: () => counts,
		setRole(next: 'view' | 'edit') {
			role = next;
		},
	};
}

test('all that a member holds in folders of one owner is read together, and ends with the role', async (t) => {
	const { folders, reads, setRole } = countingFolders(50);
	const user = { id: 'id of bob' };
	let lost = 0;
	for (let n = 0; n < 200; n++) {
		const held = { user, folderId: `${n % 50}`, ownerId: 'id of ada', inside: parsePath('in'), role: 'edit' as const };
		folders.held.hold(held, () => lost++);
	}
	await until('they were asked for', () => reads() >= 2);
	t.is(lost, 0);
	setRole('view');
	await until('all have ended', () => lost === 200);
	t.true(reads() < 20, `${reads()} reads`);
});

/** What a member holds in the first of many folders: how often the paths of these are looked at in a round. */
function heldInFirst(insides: readonly string[]) {
	/** Of others, in which something of this round was found. */
	const turns = new Set<number>();
	let looked = 0;
	let most = 0;
	let rounds = 0;
	const rowOf = (n: number) => ({
		...{ id: `${n}`, owner: { id: 'id of ada', username: 'ada' }, nextPath: undefined, itemId: `users/ada/f${n}` },
		...{ role: 'view' as const, createdAt: n },
		get path() {
			looked++;
			return parsePath(`f${n}`);
		},
	});
	const rows = Array.from({ length: 250 }, (_, n) => rowOf(n));
	const folders = new SharedFolders({
		store: {
			async joined() {
				most = Math.max(most, looked);
				looked = 0;
				rounds++;
				turns.clear();
				return rows;
			},
		},
		rootOf: async () => 'first',
		storage: () => ({ stat: async (id: string) => ({ type: 'directory', id, mayReuseId: false }) }),
	} as never);
	let turn = 0;
	const watched = { role: 'view' as const, onRole() {}, onPlace: () => turns.add(turn) };
	const user = { id: 'id of bob' };
	const leaves = insides.map((inside) =>
		folders.held.hold(
			{ user, folderId: '0', ownerId: 'id of ada', inside: parsePath(inside), role: 'view' },
			() => {},
			watched,
		),
	);
	const others = setInterval(() => turn++, 1);
	const leave = () => {
		clearInterval(others);
		for (const each of leaves) each();
	};
	return { leave, most: () => most, rounds: () => rounds, turns };
}

test('where a member has much under way the folders are compared once in a round, and for each place once', async (t) => {
	const { leave, most, rounds } = heldInFirst(Array.from({ length: 2000 }, (_, n) => `p${n % 100}`));
	t.teardown(leave);
	await until('two rounds have ended', () => rounds() > 2);
	t.true(most() < 3000, `${most()} paths were looked at`);
});

test('others have turns while it is checked what members have under way', async (t) => {
	const { leave, turns } = heldInFirst(Array.from({ length: 20_000 }, (_, n) => `p${n}`));
	t.teardown(leave);
	await until('much was looked at in one round', () => turns.size > 3);
	t.pass();
});

// Alone: what others in this process do meanwhile would count.
test.serial('long paths of one length that members have under way are not compared with each other', async (t) => {
	const costOf = (insides: string[]) => {
		const { leave, rounds } = heldInFirst(insides);
		return usualMs(() => until('a round has ended', () => rounds() > 1).finally(leave));
	};
	const above = Array.from({ length: 200 }, () => 'n'.repeat(254)).join('/');
	const [few, many] = [
		await costOf(Array.from({ length: 100 }, (_, n) => `${above}/${1000 + n}`)),
		await costOf(Array.from({ length: 3000 }, (_, n) => `${above}/${1000 + n}`)),
	];
	// Thirty times as much, and not nine hundred times.
	t.true(many < 100 * few + 1000, `${many} ms, and ${few} ms for a thirtieth`);
});

/** Folders of two owners on disks of their own, that of carol answers nothing. Bob and dave are members of both. */
function withHangingDisk() {
	const rows = new Map<string, 'view' | 'edit'>();
	let hanging = 0;
	const owners = ['ada', 'carol'];
	const users = ['bob', 'dave'];
	for (const user of users) for (const owner of owners) rows.set(`${user} ${owner}`, 'edit');
	const folders = new SharedFolders(
		{
			store: {
				async joined(userId: string, ownerId?: string) {
					return owners.flatMap((username, createdAt) => {
						const role = rows.get(`${userId} ${username}`);
						if (role === undefined || (ownerId ?? username) !== username) return [];
						const itemId = `users/${username}/docs of ${username}`;
						const path = parsePath(`docs of ${username}`);
						return [{ id: username, owner: { id: username, username }, path, itemId, role, createdAt }];
					});
				},
			},
			rootOf: async (username: string) => `root of ${username}`,
			storage: () => ({
				async stat(id: string) {
					if (id.startsWith('users/carol')) {
						hanging++;
						await new Promise(() => {});
					}
					return { type: 'directory', id, mtime: 1, mayReuseId: false };
				},
				count: async () => 0,
			}),
		} as never,
		100,
	);
	const lost: string[] = [];
	const placed = new Set<string>();
	const hold = (user: string, owner: string) => {
		const held = {
			user: { id: user },
			folderId: owner,
			ownerId: owner,
			inside: parsePath('in'),
			role: 'edit' as const,
		};
		const watched = { role: held.role, onRole() {}, onPlace: () => placed.add(`${user} ${owner}`) };
		return folders.held.hold(held, () => lost.push(`${user} ${owner}`), watched);
	};
	return { folders, rows, lost, placed, hold, hanging: () => hanging };
}

test('a disk that answers nothing keeps nobody’s access alive, and no page from changes in other folders', async (t) => {
	const { rows, lost, placed, hold, hanging } = withHangingDisk();
	for (const leave of [hold('bob', 'carol'), hold('dave', 'carol'), hold('dave', 'ada'), hold('bob', 'ada')])
		t.teardown(leave);
	await until('the disk is asked', () => hanging() === 1);
	await until('pages are told', () => placed.has('dave ada') && placed.has('bob ada'));
	rows.delete('dave ada');
	await until('on another disk it ends', () => lost.includes('dave ada'));
	rows.delete('dave carol');
	await until('on the very disk, too', () => lost.includes('dave carol'));
	rows.set('bob ada', 'view');
	await until('so does a lesser role', () => lost.includes('bob ada'));
	t.false(lost.includes('bob carol'), 'an outage ends nothing');
	rows.set('bob carol', 'view');
	await until('and one that the rows alone say', () => lost.includes('bob carol'));
	t.is(hanging(), 1, 'no further call hangs');
});

test('what a new member begins during a check is not judged by rows that were read before', async (t) => {
	const members = new Set(['bob']);
	let rounds = 0;
	let isAsked = false;
	let answer = () => {};
	const access = new HeldAccess(() => {
		rounds++;
		const then = new Set(members);
		const role = async ({ user }: Held) => {
			if (!then.has(user.id)) throw new Failure('notFound', 'gone');
			return 'edit' as const;
		};
		return {
			async atMost(held) {
				if (rounds === 1) {
					isAsked = true;
					await new Promise<void>((resolve) => {
						answer = resolve;
					});
				}
				return role(held);
			},
			rootOf: async (held) => (await role(held)) && 'first',
			locate: async (held) => ({ role: await role(held), path: parsePath('in') }),
		};
	});
	const lost: string[] = [];
	const hold = (id: string) => {
		const held = { user: { id }, folderId: 'f', ownerId: 'ada', inside: parsePath('in'), role: 'edit' as const };
		t.teardown(access.hold(held, () => lost.push(id)));
	};
	hold('bob');
	await until('the rows are asked', () => isAsked);
	members.add('dave');
	hold('dave');
	answer();
	await until('there was a next check', () => rounds >= 3);
	t.deepEqual(lost, []);
});

test('a list and a search of what is shared wait for no disk that answers nothing, and say whose files are missing', async (t) => {
	const { folders, hanging } = withHangingDisk();
	const bob: Viewer = { kind: 'user', id: 'bob', username: 'bob' };
	const files = { search: async () => ({ entries: [], indexedAt: null }) } as unknown as Files;
	const reads = sharedReads(files, folders);
	const root = { area: 'shared', path: parsePath('') } as const;
	const list = async () => {
		const missing: unknown[] = [];
		const names: string[] = [];
		for await (const rows of reads.list(bob, root, (owner) => missing.push(owner)))
			names.push(...rows.map(({ name }) => name));
		return [names, missing];
	};
	t.deepEqual(await list(), [['docs of ada'], ['carol']]);
	t.deepEqual(await list(), [['docs of ada'], ['carol']]);
	const { entries, missing } = await reads.search(bob, root, { term: 'docs' } as never);
	t.deepEqual([entries.map(({ name }) => name), missing], [['docs of ada'], ['carol']]);
	t.is(hanging(), 1, 'no further call hangs');
});

test('where a folder is whose contents change is looked for once for all who watch it', async (t) => {
	const { folders, reads } = countingFolders(1);
	const changes: (() => void)[] = [];
	const watched = {
		async watch(_viewer: Viewer, _folder: ItemRef, onChange: () => void) {
			changes.push(onChange);
			return { close() {} };
		},
	} as unknown as Files;
	const bob: Viewer = { kind: 'user', id: 'id of bob', username: 'bob' };
	const seen = new Map<number, number>();
	const watches = await Promise.all(
		Array.from({ length: 30 }, (_, n) =>
			sharedReads(watched, folders).watch(bob, { area: 'shared', path: parsePath('f0') }, () =>
				seen.set(n, (seen.get(n) ?? 0) + 1),
			),
		),
	);
	const before = reads();
	for (let n = 0; n < 100; n++) for (const change of changes) change();
	await until('all are told', () => seen.size === 30);
	t.true(reads() - before < 10, `${reads() - before} reads`);
	t.deepEqual([...new Set(seen.values())], [1]);
	for (const watch of watches) watch.close();
	t.is(folders.held.count, 0);
});

test('an open list is told when a folder begins to move to the trash or out of it, and when it has arrived', async (t) => {
	const [here, inTrash] = [
		{ first: 'docs', last: 'Photos' },
		{ first: ':trash', last: '0' },
	];
	let ends = [inTrash];
	const lists = new WatchedLists(async () => [{ id: '1', role: 'view', owner: 'ada', ends }]);
	let changes = 0;
	const { close } = await lists.watch('id of bob', () => changes++);
	t.teardown(close);
	for (const [index, next] of [[inTrash, here], [here], [here, inTrash], [inTrash]].entries()) {
		ends = next;
		await until('the list is told', () => changes === index + 1);
	}
	t.is(changes, 4);
});

test('the open lists of a user are read together', async (t) => {
	const { folders, reads, wholeReads, setRole } = countingFolders(3);
	let changes = 0;
	const watches = await Promise.all(
		Array.from({ length: 30 }, () => folders.lists.watch('id of bob', () => changes++)),
	);
	const before = reads();
	await until('they were compared', () => reads() >= before + 2);
	t.is(changes, 0);
	setRole('view');
	await until('all are told', () => changes === 30);
	t.true(reads() - before < 15, `${reads() - before} reads`);
	t.is(wholeReads(), 0, 'each second they are compared without their paths');
	for (const watch of watches) watch.close();
});

test('the many items of one call are found by one read', async (t) => {
	const { folders, reads } = countingFolders(20);
	const known = folders.forMany();
	for (let n = 0; n < 2000; n++) await known.at({ id: 'id of bob' }, parsePath(`f${n % 20}/in`));
	t.true(reads() < 200, `${reads()} reads`);
	await t.throwsAsync(known.at({ id: 'id of bob' }, parsePath('none')));
});

test('listings at once have the members of their folders counted twice, and one that begins later sees what has changed', async (t) => {
	const { folders, counts } = countingFolders(0);
	const count = () => folders.memberCounts({ id: 'id of ada' }, parsePath(''));
	const first = Array.from({ length: 20 }, count);
	await Promise.resolve();
	const later = Array.from({ length: 20 }, count);
	t.is((await Promise.all(first)).at(-1)?.size, 1);
	t.deepEqual([...((await Promise.all(later)).at(-1)?.values() ?? [])], [2]);
	t.is(counts(), 2);
	await Promise.all([count(), folders.memberCounts({ id: 'id of ada' }, parsePath('f1'))]);
	t.is(counts(), 4);
});

test('a folder that its owner moves just after its row was read is found where it is, and ends nothing that is under way', async (t) => {
	const { app, ada, bob, share } = await memberFixture(t);
	await share({ bob: 'edit' });
	const { sharedFolders, accounts, database } = app.services;
	const user = await accounts.find('bob');
	const { held } = await enterFolder(sharedFolders, { kind: 'user', ...user }, { path: parsePath('Photos') }, 'edit');
	const { members } = database;
	const joined = members.joined.bind(members);
	let moves = 0;
	const moveOnce = (from: string, to: string) => {
		members.joined = async (...words) => {
			members.joined = joined;
			const rows = await joined(...words);
			const answer = await ada.post('/api/renameItem', { oldPath: from, newName: to, type: 'private' });
			if (answer.statusCode === 200) moves++;
			return rows;
		};
	};
	moveOnce('docs', 'papers');
	t.deepEqual(await sharedNames(bob, 'Photos'), ['2030', 'fox.txt']);
	moveOnce('papers', 'docs');
	let leave = () => {};
	const found = await new Promise((onPlace) => {
		leave = sharedFolders.held.hold(held, () => {}, { role: 'edit', onRole() {}, onPlace });
	});
	leave();
	t.is(found, parsePath('docs/Photos'));
	moveOnce('docs', 'papers');
	const place = await sharedFolders.holding(user, { ownerId: held.ownerId, path: parsePath('papers/Photos/fox.txt') });
	t.is(place.path, parsePath('papers/Photos/fox.txt'));
	let isLost = false;
	leave = sharedFolders.held.hold(held, () => {
		isLost = true;
	});
	t.teardown(leave);
	moveOnce('papers', 'docs');
	await until('a round has read the rows', () => moves === 4);
	await until('the next one has, too', () => nextRead(members));
	t.false(isLost);
});

/** Resolves once the folders of a member have been read from now on. */
function nextRead(members: Pick<MemberStore, 'joined'>): Promise<boolean> {
	const joined = members.joined.bind(members);
	return new Promise((resolve) => {
		members.joined = async (...words) => {
			members.joined = joined;
			resolve(true);
			return joined(...words);
		};
	});
}
