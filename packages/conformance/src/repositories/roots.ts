import type { Stores } from '@stowage/plugin-api';
import { type Rule, refuses, second } from './rules.js';
import { versionAt } from './versions.js';

/** The storage roots of the database, and the homes on each. */
export function rootRules(assertThat: Rule): void {
	const root = (name: string) => ({ name, rootId: `id of ${name}`, driver: 'local', location: `/mnt/${name}` });

	assertThat('storage roots are listed in the order in which they were added', async (t, { roots }, clock) => {
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
		t.is((await roots.list()).length, 3, 'names are case-sensitive');
	});

	assertThat('at most one storage root is the default one', async (t, { roots }) => {
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

	assertThat('a renamed storage root keeps its homes', async (t, { roots, homes }) => {
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

	assertThat('a storage root is relocated, unless its location is configured', async (t, { roots }) => {
		await roots.add({ ...root('local'), location: null });
		for (const name of ['disk', 'other']) await roots.add(root(name));
		for (const location of ['/media/disk', '/media/disk', '/mnt/other']) await roots.relocate('id of disk', location);
		await refuses(t, 'notFound', () => roots.relocate('id of nothing', '/media/disk'));
		await refuses(t, 'notFound', () => roots.relocate('id of local', '/media/disk'));
		t.deepEqual((await roots.list()).map(({ name, location }) => `${name} ${location}`).sort(), [
			'disk /mnt/other',
			'local null',
			'other /mnt/other',
		]);
	});

	assertThat('a storage root is removed only once no home is on it', async (t, { roots, homes }) => {
		await roots.add(root('disk'));
		await homes.set('ada', 'id of disk');
		await refuses(t, 'conflict', () => roots.remove('disk'));
		t.is((await roots.list()).length, 1);
		await homes.set('ada', 'elsewhere');
		await homes.set('bob', 'id of disk');
		await homes.unassign('ada', 'id of disk');
		t.is(await homes.find('ada'), 'elsewhere', 'it is on another root');
		await homes.unassign('bob', 'id of disk');
		t.is(await homes.find('bob'), undefined);
		await roots.remove('disk');
		t.deepEqual(await roots.list(), []);
		await refuses(t, 'notFound', () => roots.remove('disk'));
	});

	assertThat('a home gets one root, also with concurrent requests', async (t, { homes }) => {
		t.is(await homes.find('ada'), undefined);
		const places = await Promise.all(['one', 'two', 'three', 'four'].map((rootId) => homes.assign('ada', rootId)));
		t.is(new Set(places).size, 1);
		t.is(await homes.find('ada'), places[0]);
		t.is(await homes.assign('ada', 'later'), String(places[0]));
		t.is(await homes.find('Ada'), undefined);
		await homes.set('ada', 'moved');
		t.is(await homes.find('ada'), 'moved');
		await homes.set('bob', 'moved');
		t.deepEqual(await homes.list('moved'), ['ada', 'bob']);
		t.deepEqual(await homes.list('one'), []);
	});

	assertThat('homes without a root get one all at once, and others keep theirs', async (t, { homes }) => {
		await homes.set('name 7', 'elsewhere');
		const names = Array.from({ length: 450 }, (_, n) => `name ${n}`);
		for (let n = 0; n < 2; n++) await homes.assignEach(names, 'first');
		await homes.assignEach([], 'first');
		t.is((await homes.list('first')).length, 449);
		t.deepEqual(await homes.list('elsewhere'), ['name 7']);
	});

	assertThat(
		'the move of a home is listed, and excludes others, until its job has ended',
		async (t, { homes, jobs, users }) => {
			const job = await moveJob({ jobs, users }, 'one');
			const move = { name: 'ada', jobId: job, runId: 'run' };
			await homes.set('ada', 'old');
			t.deepEqual(await homes.findWithMove('ada'), { rootId: 'old', move: undefined });
			await homes.beginMove(move);
			t.deepEqual(await homes.findWithMove('ada'), { rootId: 'old', move: { ...move, isFrozen: false } });
			t.true(await homes.setFrozen('run', true));
			t.deepEqual(await homes.listMoves(), [{ ...move, isFrozen: true }]);
			await refuses(t, 'conflict', async () => homes.beginMove({ name: 'ada', jobId: 'other', runId: 'other' }));
			await jobs.cancel(job);
			t.deepEqual(await homes.listMoves(), []);
			t.is((await homes.findWithMove('ada')).move, undefined);
			await homes.beginMove({ name: 'ada', jobId: 'other', runId: 'other' });
		},
	);

	assertThat(
		'a home and its links are switched to another root by the run that froze it, not by an earlier run',
		async (t, db) => {
			const { homes, links, users } = db;
			const jobId = await moveJob(db, 'one');
			const [ada] = await users.list();
			const link = { ownerId: String(ada?.id), path: 'a' as never, expiresAt: Date.UTC(2031, 0, 1) };
			const [first, second] = [
				await links.add({ ...link, tokenHash: '1', itemId: 'old 1' }, 10),
				await links.add({ ...link, tokenHash: '2', itemId: 'old 2' }, 10),
			];
			await homes.beginMove({ name: 'ada', jobId, runId: 'earlier' });
			await homes.setFrozen('earlier', true);
			await homes.beginMove({ name: 'ada', jobId, runId: 'run' });
			await db.trash.add(versionAt(1, 'a', { ownerId: link.ownerId, versionOf: 'old 1' }));
			const rebound = {
				links: [
					{ id: first.id, expectedItemId: 'old 1', itemId: 'new 1' },
					{ id: second.id, expectedItemId: 'another', itemId: 'new 2' },
				],
				versions: [{ ownerId: link.ownerId, former: 'old 1', file: 'new 1', path: link.path }],
			};
			t.false(await homes.setFrozen('earlier', true));
			t.false(await homes.switchRoot('earlier', 'new', rebound));
			t.false(await homes.switchRoot('run', 'new', rebound), 'it is not frozen');
			t.is(await homes.find('ada'), undefined);
			await homes.setFrozen('run', true);
			t.true(await homes.switchRoot('run', 'new', rebound));
			t.deepEqual(await homes.findWithMove('ada'), {
				rootId: 'new',
				move: { name: 'ada', jobId, runId: 'run', isFrozen: false },
			});
			t.deepEqual((await links.page({ limit: 10 })).map(({ itemId }) => itemId).sort(), ['new 1', 'old 2']);
			t.is((await db.versions.of(link.ownerId, { file: 'new 1', path: 'none' as never })).length, 1);
			await homes.endMove('earlier');
			t.is((await homes.listMoves()).length, 1);
			await homes.endMove('run');
			t.deepEqual(await homes.listMoves(), []);
		},
	);

	assertThat(
		'processes that acknowledge a move are listed, and silent ones are marked',
		async (t, { homes }, clock) => {
			await homes.acknowledge('run', 'one', false);
			await homes.acknowledge('run', 'two', true);
			await homes.acknowledge('other', 'one', true);
			await homes.acknowledge('run', 'one', false);
			const listed = async () =>
				(await homes.acknowledgements('run', 10 * second)).sort((a, b) => (a.holder < b.holder ? -1 : 1));
			t.deepEqual(await listed(), [
				{ holder: 'one', hasStopped: false, isSilent: false },
				{ holder: 'two', hasStopped: true, isSilent: false },
			]);
			clock.now += 11 * second;
			await homes.acknowledge('run', 'one', true);
			t.deepEqual(await listed(), [
				{ holder: 'one', hasStopped: true, isSilent: false },
				{ holder: 'two', hasStopped: true, isSilent: true },
			]);
		},
	);
}

/** A job of a new user ada. */
async function moveJob({ jobs, users }: Pick<Stores, 'jobs' | 'users'>, id: string): Promise<string> {
	const { id: userId } = await users.add({ username: 'ada', secret: 's' });
	const job = {
		id,
		kind: 'move-root',
		userId,
		network: '192.0.2.1',
		title: 'Move',
		input: '{}',
		onRestart: 'resume' as const,
		isLong: false,
		isOrdered: true,
	};
	await jobs.add(job, { jobs: 10, bytes: 1000 });
	return id;
}
