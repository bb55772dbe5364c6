import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { isFailure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { Client, field, file, json, type TestApp, testApp } from '../testApp.js';

const password = 'correct horse';
const registration = (username: string) => ({ username, password, passwordConfirm: password });

/** A server with a second storage root `big` in a folder of its own. */
async function setUp(t: ExecutionContext) {
	const app = await testApp(t, { '--public-listing': 'everyone' });
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-homes-'));
	t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
	const big = path.join(folder, 'big');
	const addBig = () => app.services.rootAdministration.add('big', 'local', big);
	const register = (username: string) => new Client(app).post('/api/register', registration(username));
	/** Runs `work` while the root in that folder is not mounted: there is the empty mount point. */
	const whileAway = async (root: string, work: () => Promise<unknown>) => {
		const gone = `${root}-gone`;
		await rename(root, gone);
		await mkdir(root);
		await work().finally(async () => {
			await rm(root, { recursive: true });
			await rename(gone, root);
		});
	};
	return { app, big, addBig, register, whileAway };
}

async function putHome(root: string, name: string) {
	await mkdir(path.join(root, 'users', name, 'Public'), { recursive: true });
	await writeFile(path.join(root, 'users', name, 'diary.txt'), `private of ${name}`);
}

async function signedIn(app: TestApp, username: string): Promise<Client> {
	const client = new Client(app);
	await client.post('/api/login', { username, password });
	return client;
}

const namesOf = async (client: Client): Promise<string[]> =>
	json(await client.get('/api/browse?type=private')).entries.map(({ name }: { name: string }) => name);

test('a name whose home lies on any storage root without a user is nobody’s to register, in whichever case', async (t) => {
	const { app, big, addBig, register } = await setUp(t);
	await addBig();
	await putHome(big, 'ada');
	await putHome(app.filesDir, 'Bob');
	for (const name of ['ada', 'ADA', 'bob']) t.is((await register(name)).statusCode, 409, name);
	await app.services.rootAdministration.setDefault('big');
	for (const name of ['ada', 'ADA', 'bob']) t.is((await register(name)).statusCode, 409, name);
	t.deepEqual(await app.services.accounts.list(), []);
	t.is((await register('carl')).statusCode, 200);
	const error = await t.throwsAsync(app.services.accounts.rename('carl', 'Ada'));
	t.true(isFailure(error, 'alreadyExists'), 'nor can an account get it');
	t.is((await app.services.accounts.find('carl')).isDisabled, false);
});

test('while a disk is away with the home of a former account, its name can’t be registered, and other names can', async (t) => {
	const { app, addBig, register, whileAway } = await setUp(t);
	await register('ada');
	await app.services.accounts.remove('ada', { kind: 'keep' });
	// As databases are in which no home was recorded while there was one root.
	await app.services.database.homes.unassign('ada', app.services.roots.first.storage.rootId);
	await addBig();
	await app.services.rootAdministration.setDefault('big');
	await whileAway(app.filesDir, async () => {
		t.is((await register('ada')).statusCode, 409);
		t.is((await register('bob')).statusCode, 200);
	});
	await app.services.rootAdministration.setDefault('local');
	await whileAway(app.filesDir, async () => {
		t.is((await register('carl')).statusCode, 503, 'whether the disk of new homes has this one can’t be seen');
	});
	t.is((await register('carl')).statusCode, 200);
});

test('a home that comes back with its disk is not that of the account which got its name meanwhile', async (t) => {
	const { app, big, addBig, register, whileAway } = await setUp(t);
	await addBig();
	await app.services.rootAdministration.setDefault('big');
	await putHome(app.filesDir, 'ada');
	await whileAway(app.filesDir, async () => t.is((await register('ada')).statusCode, 200));
	const ada = await signedIn(app, 'ada');
	t.deepEqual(await namesOf(ada), ['Public']);
	await ada.upload('/api/upload', [field('directory', ''), file('new.txt', 'new')]);
	t.deepEqual((await readdir(path.join(big, 'users/ada'))).sort(), ['Public', 'new.txt']);
	t.deepEqual((await readdir(path.join(app.filesDir, 'users/ada'))).sort(), ['Public', 'diary.txt']);
	t.like(await app.services.homeMoves.oldHomes(), [{ username: 'ada', root: 'local' }], 'doctor names it');
});

test('the home of an account that was made while there was one root stays its own, whatever lies on others', async (t) => {
	const { app, big, addBig, register } = await setUp(t);
	await register('ada');
	const { homes } = app.services.database;
	const { rootId } = app.services.roots.first.storage;
	t.is(await homes.find('ada'), rootId, 'its root is recorded with the account');
	// Older databases lack that.
	await homes.unassign('ada', rootId);
	await rm(path.join(app.filesDir, 'users/ada'), { recursive: true });
	await putHome(big, 'ada');
	await addBig();
	await app.services.rootAdministration.setDefault('big');
	const ada = await signedIn(app, 'ada');
	await ada.upload('/api/upload', [field('directory', ''), file('new.txt', 'new')]);
	t.deepEqual((await namesOf(ada)).sort(), ['Public', 'new.txt']);
	t.deepEqual((await readdir(path.join(app.filesDir, 'users/ada'))).sort(), ['Public', 'new.txt']);
	t.is(await readFile(path.join(big, 'users/ada/diary.txt'), 'utf8'), 'private of ada');
});

test('a new account of a removed one’s name has its home on the default root of today', async (t) => {
	const { app, big, addBig, register } = await setUp(t);
	await register('ada');
	await app.services.accounts.remove('ada', { kind: 'delete' });
	await addBig();
	await app.services.rootAdministration.setDefault('big');
	t.is((await register('ada')).statusCode, 200);
	t.deepEqual(await readdir(path.join(big, 'users/ada')), ['Public']);
	t.false((await readdir(path.join(app.filesDir, 'users'))).includes('ada'));
});

test('an account adopts the home of its name from whichever root has it, and none where there is none or more than one', async (t) => {
	const { app, big, addBig, whileAway } = await setUp(t);
	const { accounts } = app.services;
	await addBig();
	const adopt = (name: string, root?: string) =>
		accounts.create(name, password, { adoptsHome: true, ...(root === undefined ? {} : { root }) });
	const refused = async (name: string, root: string | undefined, message: RegExp) =>
		t.regex(String(await t.throwsAsync(adopt(name, root))), message);
	await putHome(big, 'ada');
	await adopt('ada');
	t.deepEqual((await namesOf(await signedIn(app, 'ada'))).sort(), ['Public', 'diary.txt']);
	t.deepEqual(await app.services.homeMoves.oldHomes(), []);

	await refused('bob', undefined, /no home of bob on any storage root/);
	await putHome(big, 'Bob');
	await refused('bob', undefined, /is called Bob, and not bob/);
	await refused('Bob', 'local', /no home of Bob on local/);
	await refused('Bob', 'none', /no storage root none/);
	await putHome(app.filesDir, 'Bob');
	await refused('Bob', undefined, /homes of Bob on local and on big/);
	await adopt('Bob', 'big');
	t.is((await app.services.roots.homes.mountOf('Bob')).name, 'big');

	await putHome(big, 'carl');
	await whileAway(big, () => refused('carl', undefined, /can be used right now.*big/));
	t.deepEqual((await accounts.list()).map(({ username }) => username).sort(), ['Bob', 'ada']);
});
