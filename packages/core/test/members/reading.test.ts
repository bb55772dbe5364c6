import { renameSync } from 'node:fs';
import { mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import test from 'ava';
import { below, breakFolders } from '../brokenFolder.js';
import { openEvents } from '../openEvents.js';
import { listWhole } from '../readZip.js';
import { Client, json } from '../testApp.js';
import { until } from '../until.js';
import { memberFixture, sharedNames, sharedRows } from './memberFixture.js';

const at = (path: string) => path.split('/').map(encodeURIComponent).join('/');
const ticketOf = async (client: Client, paths: readonly string[]) =>
	client.post('/api/downloadTickets', { files: paths.map((path) => ({ path })), type: 'shared', directory: '' });

test('a member sees the folders that are shared with them, and what is in them', async (t) => {
	const { bob, carol, share } = await memberFixture(t);
	t.deepEqual(await sharedRows(bob), []);
	await share({ bob: 'view', carol: 'edit' });
	const [row] = await sharedRows(bob);
	t.like(row, { name: 'Photos', path: 'Photos', type: 'directory', owner: 'ada', role: 'view', count: 2, size: 0 });
	t.is((await sharedRows(carol))[0].role, 'edit');
	const rows = await sharedRows(bob, 'Photos');
	t.deepEqual(rows.map(({ path }: { path: string }) => path).sort(), ['Photos/2030', 'Photos/fox.txt']);
	t.deepEqual(await sharedNames(bob, 'Photos/2030'), ['owl.txt']);
	t.is((await bob.get(`/api/download/${at('Photos/2030/owl.txt')}?type=shared`)).payload, 'an owl');
	t.is((await bob.get(`/api/download/${at('Photos/fox.txt')}?type=shared&owner=ada`)).payload, 'a fox');
	t.is((await bob.get(`/api/download/${at('Photos/fox.txt')}?type=shared&owner=carol`)).statusCode, 404);
});

test('nothing beside a shared folder can be reached by it', async (t) => {
	const { bob, home, share } = await memberFixture(t);
	await share({ bob: 'edit' });
	await symlink(home('docs/canary.txt'), home('docs/Photos/link.txt'));
	await symlink(home('docs'), home('docs/Photos/linked'));
	t.deepEqual(await sharedNames(bob, 'Photos'), ['2030', 'fox.txt']);
	const paths = [
		...['docs', 'docs/Photos', 'docs/canary.txt', 'canary.txt', 'Photos-canary', 'Photos-canary/canary.txt'],
		...['Photos/link.txt', 'Photos/linked', 'Photos/linked/canary.txt', 'ada', '.stowage', 'Photos/.stowage'],
		...[':trash', 'Public', 'Photos (ada)', 'photos', 'Photos '],
	];
	for (const path of paths) {
		t.is((await bob.get(`/api/browse?type=shared&directory=${encodeURIComponent(path)}`)).statusCode, 404, path);
		t.is((await bob.get(`/api/download/${at(path)}?type=shared`)).statusCode, 404, path);
		t.is((await ticketOf(bob, [path])).statusCode, 404, path);
		t.is((await bob.get(`/api/events?type=shared&directory=${encodeURIComponent(path)}`)).statusCode, 404, path);
	}
	for (const path of ['Photos/../canary.txt', '../ada/canary.txt', 'Photos//fox.txt', 'Photos/./fox.txt', '/Photos']) {
		t.is((await bob.get(`/api/browse?type=shared&directory=${encodeURIComponent(path)}`)).statusCode, 400, path);
		t.is((await ticketOf(bob, [path])).statusCode, 400, path);
		t.is((await bob.get(`/api/download/${path}?type=shared`)).statusCode, 400, path);
	}
});

test('strangers, visitors and former members see nothing of a shared folder', async (t) => {
	const { app, ada, bob, carol, share } = await memberFixture(t);
	await share({ bob: 'view' });
	const visitor = new Client(app);
	const { ticket } = json(await ticketOf(bob, ['Photos/fox.txt']));
	t.is((await bob.get(`/api/downloadTickets/${ticket}`)).payload, 'a fox');
	const all = async (client: Client, status: number) => {
		t.is((await client.get('/api/browse?type=shared&directory=Photos')).statusCode, status);
		t.is((await client.get('/api/browse?type=shared&directory=Photos&search=fox')).statusCode, status);
		t.is((await client.get('/api/download/Photos/fox.txt?type=shared')).statusCode, status);
		t.is((await client.get('/api/download/Photos?type=shared')).statusCode, status);
		t.is((await client.get('/api/thumbnail/Photos/fox.txt?type=shared&size=256')).statusCode, status);
		t.is((await client.get('/api/events?type=shared&directory=Photos')).statusCode, status);
		t.is((await ticketOf(client, ['Photos/fox.txt'])).statusCode, status);
	};
	for (const client of [ada, carol]) await all(client, 404);
	await all(visitor, 401);
	await share({ carol: 'view' });
	await all(bob, 404);
	t.is((await bob.get(`/api/downloadTickets/${ticket}`)).statusCode, 404);
	t.deepEqual(await sharedRows(bob), []);
	t.is((await visitor.get('/api/browse?type=shared')).statusCode, 401);
});

test('archives and tickets of shared folders hold what is in them', async (t) => {
	const { bob, share } = await memberFixture(t);
	await share({ bob: 'view' });
	const names = async (bytes: Buffer) => (await listWhole(t, bytes)).map(([name]) => name).sort();
	const expected = ['Photos/', 'Photos/2030/', 'Photos/2030/owl.txt', 'Photos/fox.txt'];
	t.deepEqual(await names((await bob.get('/api/download/Photos?type=shared')).bytes), expected);
	const { url } = json(await ticketOf(bob, ['Photos']));
	t.deepEqual(await names((await bob.get(url)).bytes), expected);
	const chosen = { files: [{ path: 'Photos/2030', owner: 'ada' }], type: 'shared', directory: 'Photos' };
	t.deepEqual(await names((await bob.post('/api/downloadZip', chosen)).bytes), ['2030/', '2030/owl.txt']);
});

for (const isIndexed of ['true', 'false']) {
	test(`a search finds what is shared and nothing beside it, search-index ${isIndexed}`, async (t) => {
		const { ada, bob, share } = await memberFixture(t, { '--search-index': isIndexed });
		await share({ bob: 'view' });
		await ada.post('/api/createFolder', { directory: 'docs', folderName: 'foxes beside', type: 'private' });
		const found = async (directory: string, search: string) =>
			json(await bob.get(`/api/browse?type=shared&directory=${directory}&search=${search}`)).entries.map(
				({ path }: { path: string }) => path,
			);
		t.deepEqual(await found('', 'fox'), ['Photos/fox.txt']);
		t.deepEqual(await found('Photos', 'fox'), ['Photos/fox.txt']);
		t.deepEqual(await found('Photos', 'OWL'), ['Photos/2030/owl.txt']);
		t.deepEqual(await found('', 'photo'), ['Photos']);
		for (const directory of ['', 'Photos']) t.deepEqual(await found(directory, 'canary'), []);
	});
}

test('a search in all that is shared says whose files are missing, and finds the others', async (t) => {
	const { app, bob, carol, share } = await memberFixture(t);
	await share({ carol: 'view' });
	await bob.post('/api/createFolder', { directory: '', folderName: 'fox', type: 'private' });
	await share({ carol: 'view' }, 'fox', bob);
	const storage = app.services.roots.first.storage;
	const found = async () => {
		const { entries, missing } = json(await carol.get('/api/browse?type=shared&directory=&search=fox'));
		return [entries.map(({ path }: { path: string }) => path), missing];
	};
	t.deepEqual(await found(), [['fox', 'Photos/fox.txt'], undefined]);
	let mend = breakFolders(storage, below('users/ada'));
	t.deepEqual(await found(), [['fox'], ['ada']]);
	mend();
	mend = breakFolders(storage, below('users/ada/docs/Photos/2030'));
	t.deepEqual(await found(), [['fox', 'Photos/fox.txt'], ['ada']]);
	mend();
	t.deepEqual(await found(), [['fox', 'Photos/fox.txt'], undefined]);
});

test('what lies in a folder that is shared within another one is found once, in the outer one', async (t) => {
	const { bob, home, share } = await memberFixture(t);
	await mkdir(home('docs/Photos/2030-beside'));
	await writeFile(home('docs/Photos/2030-beside/owl.txt'), '');
	await share({ bob: 'edit' });
	await share({ bob: 'view' }, 'docs/Photos/2030');
	await share({ bob: 'view' }, 'docs/Photos-canary');
	const found = async (search: string) =>
		json(await bob.get(`/api/browse?type=shared&directory=&search=${search}`)).entries.map(
			({ path, role }: { path: string; role: string }) => `${path} ${role}`,
		);
	t.deepEqual(await found('owl'), ['Photos/2030/owl.txt view', 'Photos/2030-beside/owl.txt edit']);
	t.deepEqual(await found('2030'), ['2030 view', 'Photos/2030 view', 'Photos/2030-beside edit']);
	t.deepEqual(await found('canary'), ['Photos-canary/canary.txt view', 'Photos-canary view']);
});

test('folders of one name are told apart by their owners', async (t) => {
	const { app, bob, carol, share } = await memberFixture(t);
	await share({ carol: 'view' });
	await bob.post('/api/createFolder', { directory: '', folderName: 'Photos', type: 'private' });
	await bob.post('/api/createFolder', { directory: 'Photos', folderName: 'of bob', type: 'private' });
	await share({ carol: 'edit' }, 'Photos', bob);
	t.deepEqual(await sharedNames(carol), ['Photos (ada)', 'Photos (bob)']);
	t.deepEqual(await sharedNames(carol, 'Photos (bob)'), ['of bob']);
	t.is(await sharedNames(carol, 'Photos'), 404);
	await app.services.database.users.setDisabled((await app.services.accounts.find('bob')).id, true);
	t.deepEqual(await sharedNames(carol), ['Photos']);
	t.deepEqual(await sharedNames(carol, 'Photos'), ['2030', 'fox.txt']);
});

test('a folder within a shared one may be shared apart, also with others', async (t) => {
	const { bob, carol, share } = await memberFixture(t);
	await share({ bob: 'view' });
	await share({ bob: 'edit', carol: 'view' }, 'docs/Photos/2030');
	t.deepEqual(await sharedNames(bob), ['2030', 'Photos']);
	t.deepEqual(await sharedNames(carol), ['2030']);
	t.deepEqual(await sharedNames(carol, '2030'), ['owl.txt']);
	t.is(await sharedNames(carol, 'Photos'), 404);
	t.is((await carol.get('/api/download/2030/../fox.txt?type=shared')).statusCode, 400);
});

test('a shared folder is seen where its owner has it, and not while it is in the trash', async (t) => {
	const { ada, bob, home, share } = await memberFixture(t);
	await share({ bob: 'view' });
	await ada.post('/api/renameItem', { oldPath: 'docs/Photos', newName: 'Pictures', type: 'private' });
	await mkdir(home('docs/Photos'));
	await writeFile(home('docs/Photos/canary.txt'), 'canary');
	t.deepEqual(await sharedNames(bob), ['Pictures']);
	t.is(await sharedNames(bob, 'Photos'), 404);
	const deletion = await ada.call('DELETE', '/api/deleteItem', { filePath: 'docs/Pictures', type: 'private' });
	t.deepEqual(await sharedNames(bob), []);
	t.is(await sharedNames(bob, 'Pictures'), 404);
	await ada.post('/api/trash/restore', { ids: [json(deletion).trashId] });
	t.deepEqual(await sharedNames(bob, 'Pictures'), ['2030', 'fox.txt']);
	// By another program.
	await rename(home('docs/Pictures'), home('aside'));
	await rename(home('docs/Photos'), home('docs/Pictures'));
	t.deepEqual(await sharedNames(bob), []);
	t.is((await bob.get('/api/download/Pictures/canary.txt?type=shared')).statusCode, 404);
	await rm(home('aside'), { recursive: true });
});

test('a shared folder keeps its name where a rename, or a move, of it fails', async (t) => {
	const { ada, bob, share } = await memberFixture(t);
	await share({ bob: 'view' });
	const rename = { oldPath: 'docs/Photos', newName: 'Photos-canary', type: 'private' };
	t.is((await ada.post('/api/renameItem', rename)).statusCode, 409);
	t.deepEqual(await sharedNames(bob), ['Photos']);
	const move = { fromPath: 'docs/Photos', toPath: 'canary.txt/Photos', type: 'private', onConflict: 'fail' };
	t.is((await ada.post('/api/moveItem', move)).statusCode, 409);
	t.deepEqual(await sharedNames(bob, 'Photos'), ['2030', 'fox.txt']);
});

/** Each read of a folder, with what it is answered and the call of the storage that makes it. */
const reads: readonly (readonly [name: string, url: string, call: 'list' | 'listWithStats' | 'open' | 'stat'])[] = [
	['list', '/api/browse?type=shared&directory=Photos', 'list'],
	['archive', '/api/download/Photos?type=shared', 'listWithStats'],
	['file', '/api/download/Photos/fox.txt?type=shared', 'open'],
	['stat', '/api/download/Photos/fox.txt?type=shared', 'stat'],
];
for (const [name, url, call] of reads) {
	test(`what another program has put in the place of a shared folder is not shown, however late: ${name}`, async (t) => {
		const { app, bob, home, share } = await memberFixture(t);
		await writeFile(home('docs/Photos-canary/fox.txt'), 'canary');
		await share({ bob: 'view' });
		const [{ storage }] = app.services.roots.all() as unknown as [
			{ storage: Record<string, (...words: unknown[]) => unknown> },
		];
		const original = storage[call]?.bind(storage) as (...words: unknown[]) => unknown;
		let exchanged = 0;
		storage[call] = (...words) => {
			// After the folder was looked up.
			const isInside = call === 'list' || call === 'listWithStats' || String(words[0]).endsWith('fox.txt');
			if (exchanged === 0 && isInside && String(words[0]).includes('docs/Photos')) {
				exchanged++;
				renameSync(home('docs/Photos'), home('aside'));
				renameSync(home('docs/Photos-canary'), home('docs/Photos'));
			}
			return original(...words);
		};
		const answer = await bob.get(url);
		t.is(exchanged, 1);
		// An archive leaves out what is gone.
		t.is(answer.statusCode, name === 'archive' ? 200 : 404, answer.payload);
		t.false(answer.payload.includes('canary'));
	});
}

test('an open page hears of changes in its shared folder, and its stream ends with the role', async (t) => {
	const { app, ada, bob, share } = await memberFixture(t);
	await share({ bob: 'view' });
	const events = await openEvents(app, '?type=shared&directory=Photos', bob.cookie);
	await ada.post('/api/createFolder', { directory: 'docs', folderName: 'beside', type: 'private' });
	await ada.post('/api/createFolder', { directory: 'docs/Photos', folderName: 'inside', type: 'private' });
	t.deepEqual((await events.next(({ event }) => event === 'changed')).data, { type: 'shared', directory: 'Photos' });
	t.false(events.text().includes('docs'));
	const list = await openEvents(app, '?type=shared', bob.cookie);
	await share({});
	await events.ended();
	await list.next(({ event }) => event === 'changed');
	list.close();
});

test('what is under way in a folder within a shared one ends with the folder through which it is reached, and only then', async (t) => {
	const { app, ada, bob, carol, home, share } = await memberFixture(t);
	await truncate(home('docs/Photos/2030/owl.txt'), 1024 * 1024 * 1024);
	await share({ bob: 'view', carol: 'view' });
	await share({ bob: 'view', carol: 'view' }, 'docs/Photos/2030');
	const urls = ['Photos/2030/owl.txt', '2030/owl.txt', 'Photos/2030', '2030'].map(
		(path) => `/api/download/${at(path)}?type=shared`,
	);
	const begun = async (client: Client, url: string) => {
		const answer = await new Promise<IncomingMessage>((resolve) => {
			get(`${app.server.info.uri}${url}`, { headers: { cookie: client.cookie ?? '' } }, resolve);
		});
		t.is(answer.statusCode, 200);
		const state = { url, client, hasEnded: false };
		// A slow reader.
		answer.on('data', () => {
			answer.pause();
			setTimeout(() => answer.resume(), 15);
		});
		answer.once('error', () => {
			state.hasEnded = true;
		});
		t.teardown(() => void answer.destroy());
		return state;
	};
	const transfers = await Promise.all([bob, carol].flatMap((client) => urls.map((url) => begun(client, url))));
	const inOuter = ({ url }: { url: string }) => url.includes('Photos');
	await share({ carol: 'view' });
	await until('those of bob through the outer folder have ended', () =>
		transfers.filter((each) => each.client === bob && inOuter(each)).every(({ hasEnded }) => hasEnded),
	);
	t.deepEqual(
		transfers.filter(({ hasEnded }) => hasEnded).map(({ client }) => client),
		[bob, bob],
	);
	for (const url of urls) t.is((await bob.call('HEAD', url)).statusCode, url.includes('Photos') ? 404 : 200, url);
	// Who is in the outer folder still is in what lies in it.
	await share({ bob: 'view' }, 'docs/Photos/2030');
	await until('those of carol through the inner folder have ended', () =>
		transfers.filter((each) => each.client === carol && !inOuter(each)).every(({ hasEnded }) => hasEnded),
	);
	t.is(transfers.filter(({ hasEnded }) => hasEnded).length, 4);
	for (const url of urls) t.is((await carol.call('HEAD', url)).statusCode, url.includes('Photos') ? 200 : 404, url);
	await ada.call('DELETE', `/api/deleteItem`, { filePath: 'docs', type: 'private' });
	await until('all have ended', () => transfers.every(({ hasEnded }) => hasEnded));
});

test('an open page hears nothing of another folder where its shared folder has been', async (t) => {
	const { app, ada, bob, home, share } = await memberFixture(t);
	await share({ bob: 'view' });
	const events = await openEvents(app, '?type=shared&directory=Photos', bob.cookie);
	await events.quiet();
	const before = events.events.length;
	await ada.post('/api/renameItem', { oldPath: 'docs/Photos', newName: 'Pictures', type: 'private' });
	await mkdir(home('docs/Photos'));
	await ada.post('/api/createFile', { directory: 'docs/Photos', fileName: 'canary.txt', type: 'private' });
	await events.ended();
	t.is(events.events.length, before);
});

test('a listing in a shared folder says whose it is and what the member may do, also where that differs', async (t) => {
	const { bob, home, share } = await memberFixture(t);
	await mkdir(home('docs/Photos/2031/deep/kept'), { recursive: true });
	await share({ bob: 'edit' });
	await share({ bob: 'view' }, 'docs/Photos/2030');
	await share({ bob: 'view' }, 'docs/Photos/2031/deep');
	const listing = async (query: string) => json(await bob.get(`/api/browse?type=shared&${query}`));
	const roles = ({ entries }: { entries: { path: string; role?: string }[] }) =>
		Object.fromEntries(entries.map(({ path, role }) => [path, role]));
	const photos = await listing('directory=Photos');
	t.like(photos, { owner: 'ada', role: 'edit' });
	// Who may not change what is in a folder can't take the folder away.
	t.deepEqual(roles(photos), { 'Photos/fox.txt': undefined, 'Photos/2030': 'view', 'Photos/2031': 'view' });
	t.like(await listing('directory=Photos/2030'), { owner: 'ada', role: 'view' });
	const deep = await listing('directory=Photos/2031');
	t.is(deep.role, 'edit');
	t.deepEqual(roles(deep), { 'Photos/2031/deep': 'view' });
	t.is((await listing('directory=Photos&search=owl')).role, 'edit');
	t.deepEqual(roles(await listing('directory=Photos&search=owl')), { 'Photos/2030/owl.txt': 'view' });
	const all = await listing('directory=&search=fox');
	t.is(all.role, undefined);
	t.deepEqual(roles(all), { 'Photos/fox.txt': 'edit' });
});

test('an open page hears at once that its user may do more or less in a folder', async (t) => {
	const { app, bob, share } = await memberFixture(t);
	await share({ bob: 'view' });
	const events = await openEvents(app, '?type=shared&directory=Photos', bob.cookie);
	for (const role of ['edit', 'view'] as const) {
		await events.quiet();
		const before = events.events.length;
		await share({ bob: role });
		await events.next(({ event }) => event === 'changed' && events.events.length > before);
	}
	events.close();
});

test('any open page of an owner or a member hears of other members, and no page of others does', async (t) => {
	const { app, ada, bob, carol, share } = await memberFixture(t);
	const events = await openEvents(app, '?type=private', bob.cookie);
	const others = await openEvents(app, '?type=private', carol.cookie);
	const owners = await openEvents(app, '?type=private', ada.cookie);
	const told = () => events.events.filter(({ event }) => event === 'shared').length;
	for (const [change, count] of [
		[() => share({ bob: 'view' }), 1],
		[() => share({}), 2],
		[() => share({ bob: 'edit' }), 3],
		[() => bob.call('DELETE', '/api/members?path=Photos'), 4],
	] as const) {
		await change();
		await events.next(({ event }) => event === 'shared' && told() >= count);
		await owners.next(({ event }) => event === 'shared');
	}
	await others.quiet();
	t.false(others.text().includes('shared'));
	for (const stream of [events, others, owners]) stream.close();
});
