import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { Client, file, testApp } from '../testApp.js';
import { until } from '../until.js';

/** Ada, who has a file, and Bob. `held` makes a method of the storage wait; the other commands go on. */
async function scene(t: ExecutionContext) {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload', [file('a.txt', 'A')]);
	await new Client(app).register('bob');
	const { storage, accounts, database } = app.services;
	const held = (name: 'remove' | 'move') => {
		let isReached = false;
		let release = () => {};
		const released = new Promise<void>((resolve) => {
			release = resolve;
		});
		const method = storage[name].bind(storage) as (...args: unknown[]) => Promise<unknown>;
		Object.assign(storage, {
			async [name](...args: unknown[]) {
				isReached = true;
				await released;
				return method(...args);
			},
		});
		t.teardown(release);
		return { release, reached: () => until(`${name} is called`, () => isReached) };
	};
	const homes = async () => (await readdir(path.join(app.filesDir, 'users'))).sort();
	return { app, accounts, users: database.users, renames: database.keyValues('user-renames'), held, homes };
}

/** How often a command that waits for another one looks again, and more. */
const moment = () => new Promise((resolve) => setTimeout(resolve, 500));

const outcome = (work: Promise<unknown>) =>
	work.then(
		() => 'done',
		(error: Error) => error.message,
	);

test('a rename in the middle of a removal leaves no files under a name without an account', async (t) => {
	const { accounts, users, held, homes } = await scene(t);
	const removing = held('remove');
	const removal = outcome(accounts.remove('ada', { kind: 'delete' }));
	await removing.reached();
	const rename = outcome(accounts.rename('ada', 'lovelace'));
	await moment();
	removing.release();
	t.is(await removal, 'done');
	t.is(await rename, 'ada was removed meanwhile. Nothing was changed by this command.');
	t.deepEqual(
		(await users.list()).map(({ username }) => username),
		['bob'],
	);
	t.deepEqual((await homes()).includes('lovelace'), false);
	t.deepEqual((await homes()).includes('ada'), false);
});

test('a removal in the middle of a rename leaves the account and its files', async (t) => {
	const { app, accounts, users, held } = await scene(t);
	const moving = held('move');
	const rename = outcome(accounts.rename('ada', 'lovelace'));
	await moving.reached();
	const removal = outcome(accounts.remove('lovelace', { kind: 'delete' }));
	const disabling = outcome(accounts.setDisabled('lovelace', true));
	await moment();
	t.like(await users.find('lovelace'), { username: 'lovelace' }, 'it waits');
	moving.release();
	t.is(await rename, 'done');
	t.is(await removal, 'done');
	t.regex(await disabling, /done|lovelace was removed meanwhile/);
	t.is(await users.find('lovelace'), undefined);
	t.deepEqual(
		(await readdir(path.join(app.filesDir, 'users'))).filter((name) => /ada|lovelace/.test(name)),
		[],
	);
});

test('an account that is disabled while it is renamed stays disabled', async (t) => {
	const { accounts, users, held } = await scene(t);
	const moving = held('move');
	const rename = outcome(accounts.rename('ada', 'lovelace'));
	await moving.reached();
	const disabling = outcome(accounts.setDisabled('lovelace', true));
	await moment();
	moving.release();
	t.deepEqual([await rename, await disabling], ['done', 'done']);
	t.like(await users.find('lovelace'), { isDisabled: true });
});

test('files are not moved to the former name of a user who is renamed meanwhile', async (t) => {
	const { app, accounts, held, homes } = await scene(t);
	const moving = held('move');
	const rename = outcome(accounts.rename('bob', 'robert'));
	await moving.reached();
	const to = await accounts.find('robert');
	const removal = outcome(accounts.remove('ada', { kind: 'move', to }));
	await moment();
	moving.release();
	t.deepEqual([await rename, await removal], ['done', 'done']);
	t.deepEqual((await homes()).includes('bob'), false);
	t.is(await readFile(path.join(app.filesDir, 'users/robert/Files of ada/a.txt'), 'utf8'), 'A');
});

test('an account whose rename was cut off is not removed, enabled or given files until that has ended', async (t) => {
	const { app, accounts, users, renames, homes } = await scene(t);
	const ada = await accounts.find('ada');
	await renames.set(ada.id, { from: 'ada', to: 'lovelace', wasDisabled: false }, 60_000);
	await users.rename(ada.id, 'lovelace', true);
	const message = 'The rename of ada to lovelace was cut off. First end it: stowage user rename ada lovelace';
	await t.throwsAsync(accounts.remove('lovelace', { kind: 'delete' }), { message });
	await t.throwsAsync(accounts.remove('bob', { kind: 'move', to: await accounts.find('lovelace') }), { message });
	await t.throwsAsync(accounts.setDisabled('lovelace', false), { message });
	await renames.set(ada.id, { from: 'x; touch PWNED # ada', to: 'lovelace', wasDisabled: false }, 60_000);
	const quoted = { message: /: stowage user rename 'x; touch PWNED # ada' lovelace$/ };
	await t.throwsAsync(accounts.remove('lovelace', { kind: 'delete' }), quoted);
	await renames.set(ada.id, { from: 'ada', to: 'lovelace', wasDisabled: false }, 60_000);
	t.true((await homes()).includes('ada'));
	await accounts.rename('ada', 'lovelace');
	t.is(await readFile(path.join(app.filesDir, 'users/lovelace/a.txt'), 'utf8'), 'A');
	await accounts.remove('lovelace', { kind: 'delete' });
	t.false((await homes()).some((name) => name === 'ada' || name === 'lovelace'));
});
