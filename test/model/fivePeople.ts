import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { Client, json, testApp } from '../../packages/core/test/testApp.js';
import { answerOf, expectedAnswer, inOrder, onDisk, requestOf, rowsOf } from './compareWithModel.js';
import { type Actor, type Area, base, parent, type Role } from './FileModel.js';
import { MemberModel } from './MemberModel.js';
import { memberCall } from './memberCalls.js';
import { type Call, randomCallBy, seededNumbers } from './randomCalls.js';

const users = ['ann', 'bob', 'cat', 'dan', 'eve'];
/** Half of the calls are about what is shared. */
const areas: readonly Area[] = ['private', 'public', 'shared', 'shared'];
const password = 'correct horse';

interface Options {
	/** After how many steps all that each person sees is compared. */
	stepsBetweenWorlds: number;
	databaseUrl?: string;
}

/**
 * Random calls by five people and a visitor on homes, public trees and folders with members, whose roles change
 * meanwhile, as do names of accounts and whether they are enabled. Compares each answer, and every so often all that
 * each of them sees, and the disk, with the model.
 */
export async function fivePeople(
	t: ExecutionContext,
	steps: number,
	seed: number,
	{ stepsBetweenWorlds, databaseUrl }: Options,
): Promise<void> {
	const flags = { '--uploads-anonymous-files-per-hour': '0' };
	const app = await testApp(t, databaseUrl === undefined ? flags : { ...flags, '--database-url': databaseUrl });
	const { accounts } = app.services;
	const model = new MemberModel();
	const clients = new Map<string, Client>();
	for (const user of users) {
		clients.set(user, await new Client(app).register(user));
		model.addUser(user);
	}
	for (const [n, user] of users.entries())
		await shareSome(user, users.toSpliced(n, 1), clients.get(user) as Client, model);
	const next = seededNumbers(seed);
	const pick = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)] as T;
	const cookieOf = (actor: Actor) => (actor === undefined ? undefined : clients.get(actor)?.cookie);
	const signIn = async (user: string) => {
		const answer = await clients.get(user)?.post('/api/login', { username: model.nameOf(user), password });
		t.is(answer?.statusCode, 200, `${user} signs in`);
	};

	/** What the administrator does. */
	const administer = async (): Promise<void> => {
		const user = pick(users);
		if (next() < 0.3 && !model.disabled.has(user)) {
			const [name] = [`${user}${Math.floor(next() * 1000)}`];
			if (name === model.nameOf(user)) return;
			await accounts.rename(model.nameOf(user), name);
			model.names.set(user, name);
			await signIn(user);
		} else if (model.disabled.delete(user)) {
			await accounts.setDisabled(model.nameOf(user), false);
			await signIn(user);
		} else if (model.disabled.size < 2) {
			await accounts.setDisabled(model.nameOf(user), true);
			model.disabled.add(user);
		}
	};

	const send = async (call: Call) => {
		const named = { ...call, ...renamed(call, model) };
		const answer = await fetch(app.server.info.uri + named.path, requestOf(named, cookieOf(call.actor)));
		return answerOf(named, answer);
	};

	const statuses = new Map<string, number>();
	for (let step = 0; step < steps; step++) {
		const context = () => `seed ${seed}, step ${step}`;
		const chance = next();
		if (chance < 0.01) {
			await administer();
			continue;
		}
		const enabled = users.filter((user) => !model.disabled.has(user));
		const actor = next() < 0.05 ? undefined : pick(enabled);
		const call =
			chance < 0.1
				? memberCall(actor, next, model, users)
				: randomCallBy(actor, next, model, [...enabled, ...model.disabled], { maxNodes: 200, areas });
		const expected = call.inModel(model);
		// A folder is downloaded as an archive, which has tests of its own.
		if (expected.content === null) continue;
		const answered = await send(call);
		const told = `${context()}: ${call.actor} ${call.method} ${call.path} ${JSON.stringify(call.body)} ${call.file?.name}`;
		if (!t.deepEqual(answered, expectedAnswer(expected), told)) return;
		const kind = `${answered.status}${call.path.includes('shared') || call.body?.type === 'shared' ? ' shared' : ''}`;
		statuses.set(kind, (statuses.get(kind) ?? 0) + 1);
		// Folders that are joined in one millisecond are in no order.
		if (call.method === 'PUT') await wait(2);
		if (step % stepsBetweenWorlds !== stepsBetweenWorlds - 1 && step !== steps - 1) continue;
		for (const user of enabled) {
			const seen = await world(clients.get(user) as Client);
			learnIds(seen.trash ?? [], model, user);
			if (!t.deepEqual(seen, expectedWorld(model, user), `${told}: what ${user} sees`)) return;
		}
		if (!t.deepEqual(firstNames(await onDisk(app.filesDir), model), inOrder(model), told)) return;
	}
	for (const status of ['200 shared', '403 shared', '404 shared'])
		t.true(statuses.has(status), `${status} was among the answers`);
	t.log(`seed ${seed}: ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')}`);
}

/** Folders in folders that others are members of: at random it would take long until there are some. */
async function shareSome(user: string, others: readonly string[], client: Client, model: MemberModel): Promise<void> {
	const folders = ['a', 'a/b', 'a/b/A', `of ${user}`];
	for (const path of folders) {
		const [directory, folderName] = [parent(path), base(path)];
		await client.post('/api/createFolder', { directory, folderName, type: 'private' });
		model.createFolder(user, 'private', directory, folderName);
	}
	for (const [n, path] of folders.entries()) {
		const members = others.slice(n % 3).map((other, m): [string, Role] => [other, (n + m) % 2 === 0 ? 'edit' : 'view']);
		const named = members.map(([username, role]) => ({ username, role }));
		await client.call('PUT', '/api/members', { path, members: named });
		model.setMembers(user, path, members);
		await wait(2);
	}
}

/** The call with the names that users have now. */
function renamed({ path, body }: Call, model: MemberModel): Pick<Call, 'path' | 'body'> {
	const now = (owner: unknown) => (typeof owner === 'string' ? model.nameOf(owner) : owner);
	const url = path.replace(/(?<=[?&]owner=)\w+/, (owner) => model.nameOf(owner));
	if (body === undefined) return { path: url };
	return { path: url, body: 'owner' in body ? { ...body, owner: now(body.owner) } : body };
}

const everywhere: readonly Area[] = ['private', 'public', 'shared'];

/** All that a user sees: rows of each area with all below them, and the trash. */
async function world(client: Client): Promise<Record<string, readonly string[]>> {
	const rows = async (area: Area) => {
		const { entries, truncated } = json(await client.get(`/api/browse?type=${area}&after=0`));
		if (truncated) throw new Error('More than a search shows.');
		return rowsOf(entries);
	};
	const { entries } = json(await client.get('/api/trash'));
	return {
		private: await rows('private'),
		public: await rows('public'),
		shared: await rows('shared'),
		trash: (entries as { id: string; path: string }[]).map(({ id, path }) => `${id} ${path}`).sort(),
	};
}

/** A move to another owner's folder puts the original into the trash without telling its id. */
function learnIds(seen: readonly string[], model: MemberModel, user: string): void {
	const own = model.trash.filter(({ actor }) => actor === user);
	const known = new Set(own.map(({ id, path }) => `${id} ${path.slice(`users/${user}/`.length)}`));
	for (const item of own.filter(({ id }) => id === undefined)) {
		const line = seen.find((each) => !known.has(each) && each.endsWith(` ${item.path.slice(`users/${user}/`.length)}`));
		if (line === undefined) continue;
		known.add(line);
		item.id = line.slice(0, line.indexOf(' '));
	}
}

function expectedWorld(model: MemberModel, user: string): Record<string, readonly string[]> {
	const rows = Object.fromEntries(
		everywhere.map((area) => [area, rowsOf(model.search(user, area, '', '').rows ?? [])]),
	);
	const trash = model.trash.filter(({ actor }) => actor === user);
	return { ...rows, trash: trash.map(({ id, path }) => `${id} ${path.slice(`users/${user}/`.length)}`).sort() };
}

/** The contents of the disk with the first names of homes. */
function firstNames(disk: Record<string, string | null>, model: MemberModel): Record<string, string | null> {
	const first = new Map([...model.names].map(([user, name]) => [name, user]));
	const named = Object.entries(disk).map(([path, content]): [string, string | null] => [
		path.replace(/^users\/([^/]+)/, (_, name) => `users/${first.get(name) ?? name}`),
		content,
	]);
	return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)));
}
