import { rename } from 'node:fs/promises';
import test, { type ExecutionContext } from 'ava';
import { Client, field, file, json, recordsOf } from '../testApp.js';
import { memberFixture } from './memberFixture.js';

const membersAt = async (client: Client, at: string, type?: string) => {
	const query = `path=${encodeURIComponent(at)}${type === undefined ? '' : `&type=${type}`}`;
	const answer = await client.get(`/api/members?${query}`);
	return answer.statusCode === 200 ? json(answer).members : answer.statusCode;
};

test('a folder gets members, other ones and none by its owner', async (t) => {
	const { ada, bob, carol, share } = await memberFixture(t);
	t.deepEqual(await membersAt(ada, 'docs/Photos'), []);
	t.deepEqual(await share({ BOB: 'edit', carol: 'view' }), [
		{ username: 'bob', role: 'edit' },
		{ username: 'carol', role: 'view' },
	]);
	const both = [
		{ username: 'bob', role: 'edit' },
		{ username: 'carol', role: 'view' },
	];
	t.deepEqual(await membersAt(ada, 'docs/Photos'), both);
	t.deepEqual(await membersAt(bob, 'Photos'), both);
	t.deepEqual(await membersAt(carol, 'Photos', 'shared'), both);
	t.is(await membersAt(carol, 'Photos', 'private'), 404);
	await share({ bob: 'view' });
	t.deepEqual(await membersAt(bob, 'Photos'), [{ username: 'bob', role: 'view' }]);
	t.is(await membersAt(carol, 'Photos'), 404);
	await share({});
	t.is(await membersAt(bob, 'Photos'), 404);
	t.deepEqual(await membersAt(ada, 'docs/Photos'), []);
});

const refused = async (t: ExecutionContext, payload: object, status: number, code: string, says: RegExp = /./) => {
	const { app, ada, bob, share } = await memberFixture(t);
	await share({ bob: 'view' });
	const answer = await ada.call('PUT', '/api/members', { path: 'docs/Photos', members: [], ...payload });
	t.like(json(answer), { statusCode: status, code });
	t.regex(json(answer).message, says);
	t.deepEqual(await membersAt(bob, 'Photos'), [{ username: 'bob', role: 'view' }]);
	t.is((await app.services.database.members.list()).length, 1);
};
const members = [{ username: 'carol', role: 'view' }];
test('a home has no members', refused, { path: '', members }, 400, 'INVALID');
test('the Public folder has no members', refused, { path: 'Public', members }, 400, 'INVALID', /Public/);
test('a folder in Public has no members', refused, { path: 'Public/plain', members }, 400, 'INVALID', /Public/);
test('a file has no members', refused, { path: 'canary.txt', members }, 400, 'INVALID', /Only folders/);
test('a missing folder has no members', refused, { path: 'none', members }, 404, 'NOT_FOUND');
test('a path out of the home has no members', refused, { path: '../bob', members }, 400, 'INVALID_PATH');
test(
	'the first user who is unknown is named',
	refused,
	{ members: [...members, { username: 'dan', role: 'view' }, { username: 'eve', role: 'view' }] },
	404,
	'NO_SUCH_USER',
	/dan/,
);
test('the owner is no member', refused, { members: [{ username: 'Ada', role: 'view' }] }, 400, 'INVALID', /owner/);
test(
	'nobody is a member twice',
	refused,
	{ members: [...members, { username: 'Carol', role: 'edit' }] },
	400,
	'INVALID',
	/carol/,
);
test('there are two roles', refused, { members: [{ username: 'carol', role: 'owner' }] }, 400, 'INVALID', /role/);
test('an unknown field is refused', refused, { owner: 'bob' }, 400, 'INVALID', /owner/);

test('members change no members, and strangers see none', async (t) => {
	const { app, ada, bob, carol, share } = await memberFixture(t);
	await share({ bob: 'edit' });
	const wanted = [{ username: 'carol', role: 'view' }];
	for (const at of ['Photos', 'docs/Photos']) {
		t.is((await bob.call('PUT', '/api/members', { path: at, members: wanted })).statusCode, 404, at);
		t.is(await membersAt(carol, at), 404);
	}
	t.is((await new Client(app).get('/api/members?path=docs/Photos')).statusCode, 401);
	t.is((await new Client(app).call('PUT', '/api/members', { path: 'docs/Photos', members: [] })).statusCode, 401);
	t.deepEqual(await membersAt(ada, 'docs/Photos'), [{ username: 'bob', role: 'edit' }]);
});

test('the owner sees in a listing which folders have members, and nobody else does', async (t) => {
	const { ada, bob, carol, share } = await memberFixture(t);
	const countsIn = async (client: Client, query: string) =>
		json(await client.get(`/api/browse?${query}`)).entries.flatMap(({ name, members }: Record<string, unknown>) =>
			members === undefined ? [] : [[name, members]],
		);
	await share({ bob: 'edit', carol: 'view' });
	await share({ carol: 'view' }, 'docs/Photos/2030');
	t.deepEqual(await countsIn(ada, 'type=private&directory=docs'), [['Photos', 2]]);
	t.deepEqual(await countsIn(ada, 'type=private&directory=docs/Photos'), [['2030', 1]]);
	t.deepEqual(await countsIn(bob, 'type=shared'), []);
	t.deepEqual(await countsIn(bob, 'type=shared&directory=Photos'), []);
	await ada.post('/api/renameItem', { oldPath: 'docs/Photos', newName: 'Pictures', type: 'private' });
	await carol.call('DELETE', '/api/members?path=Pictures');
	t.deepEqual(await countsIn(ada, 'type=private&directory=docs'), [['Pictures', 1]]);
	await share({}, 'docs/Pictures');
	t.deepEqual(await countsIn(ada, 'type=private&directory=docs'), []);
});

test('members leave a folder, and nobody leaves it for them', async (t) => {
	const { ada, bob, carol, share } = await memberFixture(t);
	await share({ bob: 'edit', carol: 'view' });
	for (const [client, at] of [
		[ada, 'docs/Photos'],
		[ada, 'Photos'],
		[bob, 'docs/Photos'],
		[bob, 'Photos/2030'],
	] as const)
		t.is((await client.call('DELETE', `/api/members?path=${encodeURIComponent(at)}`)).statusCode, 404, at);
	t.is((await bob.call('DELETE', '/api/members?path=Photos')).statusCode, 200);
	t.is((await bob.call('DELETE', '/api/members?path=Photos')).statusCode, 404);
	t.deepEqual(await membersAt(ada, 'docs/Photos'), [{ username: 'carol', role: 'view' }]);
	t.is((await carol.call('DELETE', '/api/members?path=Photos')).statusCode, 200);
	t.deepEqual(await membersAt(ada, 'docs/Photos'), []);
});

test('names that nobody can have are those of no user, and who asks for many waits', async (t) => {
	const clock = { now: Date.now() };
	const { ada, carol, share } = await memberFixture(t, {}, { now: () => clock.now });
	const name = (username: string) =>
		ada.call('PUT', '/api/members', { path: 'docs/Photos', members: [{ username, role: 'view' }] });
	for (const hostile of ['\0', 'bob\0', '', ' bob', '\u202ebob', '__proto__', "' or 1=1 --", 'x'.repeat(64)])
		t.is((await name(hostile)).statusCode, 404, JSON.stringify(hostile));
	for (let n = 0; n < 92; n++) t.is((await name(`guess${n}`)).statusCode, 404);
	const [refused, known] = [await name('guess'), await name('bob')];
	t.is(refused.statusCode, 429);
	// Whether a name is one is not said either.
	t.deepEqual([known.statusCode, known.payload], [429, refused.payload]);
	t.deepEqual(await share({}), []);
	await carol.post('/api/createFolder', { directory: '', folderName: 'of carol', type: 'private' });
	t.like(await share({ bob: 'view' }, 'of carol', carol), [{ username: 'bob' }]);
	clock.now += 11 * 60_000;
	t.is((await name('guess')).statusCode, 404);
	t.is((await name('bob')).statusCode, 200);
});

test('members follow their folder and never get another one of its name', async (t) => {
	const { ada, bob, home, share } = await memberFixture(t);
	await share({ bob: 'edit' });
	await ada.post('/api/renameItem', { oldPath: 'docs/Photos', newName: 'Pictures', type: 'private' });
	await ada.post('/api/createFolder', { directory: 'docs', folderName: 'Photos', type: 'private' });
	t.deepEqual(await membersAt(bob, 'Pictures'), [{ username: 'bob', role: 'edit' }]);
	t.is(await membersAt(bob, 'Photos'), 404);
	t.deepEqual(await membersAt(ada, 'docs/Photos'), []);
	await ada.post('/api/moveItem', { fromPath: 'docs', toPath: 'papers/docs', type: 'private' });
	t.deepEqual(await membersAt(ada, 'papers/docs/Pictures'), [{ username: 'bob', role: 'edit' }]);

	const deletion = await ada.call('DELETE', '/api/deleteItem', { filePath: 'papers', type: 'private' });
	t.is(await membersAt(bob, 'Pictures'), 404);
	await ada.post('/api/trash/restore', { ids: [json(deletion).trashId] });
	t.deepEqual(await membersAt(bob, 'Pictures'), [{ username: 'bob', role: 'edit' }]);

	// By another program: what lies at its place is not what was shared.
	await rename(home('papers/docs/Pictures'), home('aside'));
	await rename(home('papers/docs/Photos'), home('papers/docs/Pictures'));
	t.is(await membersAt(bob, 'Pictures'), 404);
	await rename(home('papers/docs/Pictures'), home('papers/docs/Photos'));
	await rename(home('aside'), home('papers/docs/Pictures'));
	t.deepEqual(await membersAt(bob, 'Pictures'), [{ username: 'bob', role: 'edit' }]);

	await ada.post('/api/moveItem', { fromPath: 'papers/docs/Pictures', toPath: 'Public/Pictures', type: 'private' });
	t.is(await membersAt(bob, 'Pictures'), 404, 'what is public has no members');
});

test('members are who they are under another name, and go with their account and that of the owner', async (t) => {
	const { app, ada, bob, share } = await memberFixture(t);
	const { accounts, database } = app.services;
	await share({ bob: 'edit', carol: 'view' });
	await accounts.rename('carol', 'caroline');
	t.deepEqual(await membersAt(bob, 'Photos'), [
		{ username: 'bob', role: 'edit' },
		{ username: 'caroline', role: 'view' },
	]);
	await accounts.rename('ada', 'adele');
	t.like(await membersAt(bob, 'Photos'), { length: 2 });
	await database.users.setDisabled((await accounts.find('adele')).id, true);
	t.is(await membersAt(bob, 'Photos'), 404, 'of a disabled owner nothing is seen');
	await database.users.setDisabled((await accounts.find('adele')).id, false);
	await accounts.remove('caroline', { kind: 'keep' });
	t.deepEqual(await membersAt(bob, 'Photos'), [{ username: 'bob', role: 'edit' }]);
	await accounts.remove('adele', { kind: 'keep' });
	t.is(await membersAt(bob, 'Photos'), 404);
	t.is((await ada.get('/api/members?path=docs/Photos')).statusCode, 401);
});

test('the audit log says who made whom a member, and who has left', async (t) => {
	const { app, bob, share } = await memberFixture(t);
	await share({ bob: 'edit', carol: 'view' });
	await bob.call('DELETE', '/api/members?path=Photos');
	const lines = (await auditLines(app)).filter(({ action }) => ['setMembers', 'leaveFolder'].includes(action));
	t.like(lines[0], { action: 'setMembers', user: 'ada', path: 'docs/Photos', detail: 'bob edit, carol view' });
	t.like(lines[1], { action: 'leaveFolder', user: 'bob', area: 'shared', path: 'Photos', owner: 'ada' });
});

test('the audit log names all who became members or are none any more, however many others there are', async (t) => {
	const { app, ada } = await memberFixture(t);
	const { users } = app.services.database;
	const secret = (await users.find('bob'))?.secret ?? '';
	const names = Array.from({ length: 150 }, (_, n) => `${'long'.repeat(5)}${String(n).padStart(3, '0')}`);
	for (const username of names) await users.add({ username, secret });
	const set = (members: readonly string[]) =>
		ada.call('PUT', '/api/members', {
			path: 'docs/Photos',
			members: members.map((username) => ({ username, role: 'view' })),
		});
	t.is((await set(names)).statusCode, 200);
	t.is((await set([...names, 'bob'])).statusCode, 200);
	t.is((await set(['carol', ...names.slice(1)])).statusCode, 200);
	await app.services.audit.close();
	const lines = (await auditLines(app)).filter(({ action }) => action === 'setMembers');
	const all = lines.slice(0, -2).flatMap(({ detail = '' }) => detail.split(', '));
	t.deepEqual(
		all.sort(),
		names.map((name) => `${name} view`),
	);
	t.deepEqual(
		lines.slice(-2).map(({ detail, entries }) => [detail, entries]),
		[
			['bob view', 151],
			[`carol view, bob removed, ${names[0]} removed`, 150],
		],
	);
});

test('the audit log names the owner of the folder in which a member changes something, or is refused to', async (t) => {
	const { app, bob, share } = await memberFixture(t);
	await share({ bob: 'edit' });
	const type = 'shared';
	await bob.post('/api/createFolder', { directory: 'Photos', folderName: 'new', type });
	await bob.post('/api/renameItem', { oldPath: 'Photos/new', newName: 'newer', type });
	await bob.upload('/api/upload', [
		field('type', type),
		field('directory', 'Photos'),
		file('up.txt', Buffer.from('x')),
	]);
	await bob.post('/api/copyItem', { fromPath: 'Photos/fox.txt', fromType: type, toPath: 'fox.txt', type: 'private' });
	await bob.post('/api/copyItem', { fromPath: 'fox.txt', fromType: 'private', toPath: 'Photos/own.txt', type });
	const { trashId } = json(await bob.call('DELETE', '/api/deleteItem', { filePath: 'Photos/up.txt', type }));
	await bob.post('/api/trash/restore', { ids: [trashId] });
	await share({ bob: 'view' });
	t.is((await bob.call('DELETE', '/api/deleteItem', { filePath: 'Photos/fox.txt', type })).statusCode, 403);
	await share({});
	t.is((await bob.call('DELETE', '/api/deleteItem', { filePath: 'Photos/fox.txt', type })).statusCode, 404);
	const lines = (await auditLines(app)).filter(({ user, path: at }) => user === 'bob' && at !== undefined);
	const told = lines.map(({ action, outcome, owner, toOwner }) =>
		[action, outcome, owner, toOwner].filter(Boolean).join(' '),
	);
	t.deepEqual(told, [
		...['createFolder ok ada', 'rename ok ada', 'upload ok ada', 'copy ok ada', 'copy ok ada', 'delete ok ada'],
		...['restoreItem ok ada', 'delete refused ada', 'delete refused'],
	]);
	t.like(
		lines.find(({ action }) => action === 'restoreItem'),
		{ area: 'shared', path: 'Photos/up.txt' },
	);
});

async function auditLines(app: Awaited<ReturnType<typeof memberFixture>>['app']) {
	await app.services.audit.close();
	return recordsOf(app);
}
