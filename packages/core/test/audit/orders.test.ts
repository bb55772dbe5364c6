import { anonymousOwner } from '@stowage/rules';
import test from 'ava';
import type { AuditRecord } from '../../src/audit/auditLine.js';
import { readAudit } from '../../src/audit/readAudit.js';
import { Client, dataDirs, file, json, recordsOf, type TestApp, testApp } from '../testApp.js';

async function recorded(app: TestApp, ...actions: string[]): Promise<AuditRecord[]> {
	await app.services.audit.sweep({ byAge: false });
	return (await recordsOf(app)).filter(({ action }) => actions.includes(action));
}

const orderOf = ({ action, account, accountId, owner, trash, root, detail, entries }: AuditRecord) =>
	Object.fromEntries(
		Object.entries({ action, account, accountId, owner, trash, root, detail, entries }).filter(
			([, value]) => value !== undefined,
		),
	);

test('an order about an account is filed under its name and its id, however the name was typed, and found by each', async (t) => {
	const app = await testApp(t);
	const { accounts, homeMoves } = app.services;
	const { id } = await accounts.create('Ada', 'correct horse');
	await accounts.setPassword('ADA', 'battery staple');
	await accounts.setDisabled('aDa', true);
	await accounts.setQuota('ada', { bytes: 1, entries: null });
	await t.throwsAsync(homeMoves.start('adA', 'nowhere'));
	await accounts.rename('ADA', 'Lovelace');
	const bob = await accounts.create('bob', 'correct horse');
	await accounts.remove('LOVELACE', { kind: 'move', to: bob, purgesTrash: true });
	const actions = ['createUser', 'password', 'disableUser', 'setQuota', 'moveHome', 'renameUser', 'removeUser'];
	const own = (await recorded(app, ...actions)).filter(({ account }) => account !== 'bob');
	t.deepEqual(
		own.map(({ action, account, accountId }) => [action, account, accountId]),
		actions.map((action) => [action, action === 'removeUser' ? 'Lovelace' : 'Ada', id]),
	);
	t.is(own.at(-1)?.detail, 'files to bob, trash: deleted');
	const found = async (user: string) => {
		const names: string[] = [];
		for (const dataDir of dataDirs(app))
			for await (const { action } of readAudit(dataDir, { user })) names.push(action);
		return names.filter((name) => actions.includes(name));
	};
	t.deepEqual(await found('ada'), actions.slice(0, -1));
	t.deepEqual(await found('lovelace'), ['removeUser']);
	t.deepEqual(await found(id), actions);
	t.deepEqual(await found('BOB'), ['createUser']);
});

test('what the administrator removes from the trash for good is a line for each user whose items these were', async (t) => {
	const app = await testApp(t);
	const { trash, accounts, now } = app.services;
	const remove = async (client: Client, type: 'private' | 'public', ...names: string[]) => {
		const ids: string[] = [];
		for (const name of names) {
			const address = type === 'private' ? '/api/upload' : '/api/upload/public';
			t.is((await client.upload(address, [file(name, name)])).statusCode, 200);
			const answer = await client.call('DELETE', '/api/deleteItem', { filePath: name, type });
			ids.push(json(answer).trashId);
		}
		return ids;
	};
	const ada = await new Client(app).register('ada');
	const bob = await new Client(app).register('bob');
	const [first = ''] = await remove(ada, 'private', 'a', 'b', 'c');
	await remove(bob, 'private', 'd');
	const idOf = async (name: string) => (await accounts.find(name)).id;
	const [adaId, bobId] = [await idOf('ada'), await idOf('bob')];
	await trash.purgeAny({ ids: [first] });
	const until = now();
	await trash.purgeAny({ deletedUntil: until, rootId: app.services.roots.default.storage.rootId });
	await trash.purgeAny({ ownerId: bobId });
	// Another account has the name of the one that is gone.
	await remove(bob, 'private', 'e');
	await accounts.remove('bob', { kind: 'keep' });
	await accounts.create('bob', 'correct horse', { adoptsHome: true });
	await trash.purgeAny({});
	const lines = (await recorded(app, 'purgeTrash')).map(orderOf);
	const detail = `of everybody, from before ${new Date(until).toISOString()}`;
	t.deepEqual(lines, [
		{ action: 'purgeTrash', account: 'ada', accountId: adaId, trash: first, entries: 1 },
		{ action: 'purgeTrash', account: 'ada', accountId: adaId, root: 'local', detail, entries: 2 },
		{ action: 'purgeTrash', account: 'bob', accountId: bobId, root: 'local', detail, entries: 1 },
		{ action: 'purgeTrash', accountId: bobId, detail: 'of everybody', entries: 1 },
	]);
});

test('a purge of what visitors had uploaded names them, and one that fails is recorded with what was chosen', async (t) => {
	const app = await testApp(t);
	const { trash, trashBin, database } = app.services;
	const planted = {
		id: 'a'.repeat(32),
		ownerId: anonymousOwner,
		ownerName: anonymousOwner,
		deletedBy: 'administrator',
	};
	const { rootId } = app.services.roots.default.storage;
	const kept = { rootId, kind: 'item', type: 'file', state: 'kept', size: undefined, deletedAt: Date.now() } as const;
	await database.trash.add({ ...planted, ...kept, path: 'Public/a' as never });
	await trash.purgeAny({ ownerId: anonymousOwner });
	trashBin.purgeOfEach = async () => {
		throw new Error('a fault');
	};
	await t.throwsAsync(trash.purgeAny({ ids: ['b'.repeat(32)] }));
	const lines = await recorded(app, 'purgeTrash');
	t.deepEqual(lines.map(orderOf), [
		{ action: 'purgeTrash', owner: anonymousOwner, detail: 'of visitors', entries: 1 },
		{ action: 'purgeTrash', trash: 'b'.repeat(32) },
	]);
	t.is(lines[1]?.outcome, 'failed');
});

test('versions that the administrator removes for good are a line for each user, too', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const replace = { name: 'onConflict', value: 'replace' };
	for (const content of ['one', 'two', 'three']) await ada.upload('/api/upload', [replace, file('a', content)]);
	const { versions, trashBin, accounts } = app.services;
	await trashBin.recordAll();
	await versions.purgeAny({});
	const { id } = await accounts.find('ada');
	t.deepEqual((await recorded(app, 'purgeVersions')).map(orderOf), [
		{ action: 'purgeVersions', account: 'ada', accountId: id, detail: 'of everybody', entries: 2 },
	]);
});
