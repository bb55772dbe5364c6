import { createShare, lookAtShare, openShare } from '@stowage/contract';
import type { ExecutionContext } from 'ava';
import { Client, json, type TestApp } from '../../packages/core/test/testApp.js';
import { until } from '../../packages/core/test/until.js';
import { type Call, type Send, send } from './call.js';

/** What somebody may do with an item: nothing, look at it as a member, change it as a member, or all. */
export type Role = 'none' | 'view' | 'edit' | 'own';

/**
 * Of the caller's own home, of the folder that Ada shares, one that is shared with nobody, and of a folder of Dora's,
 * whose account is disabled.
 */
export const whiches = ['own', 'shared', 'foreign', 'disabled'] as const;

export type Which = (typeof whiches)[number];

export interface Person {
	title: string;
	/** Undefined for who has no account. */
	client: Client | undefined;
	send: Send;
	role: Role;
	/** By each way that might lead to an item, and not only by the ordinary one: one of each role. */
	triesAll: boolean;
	/** What can be done by the share that this person has the address of. */
	share: ShareAccess;
}

/** With the statuses of what is refused. */
export interface ShareAccess {
	open: 'ok' | number;
	look: 'ok' | number;
	read: 'ok' | number;
	send: 'ok' | number;
}

const all = (status: 'ok' | number): ShareAccess => ({ open: status, look: status, read: status, send: status });

export const password = 'correct horse';

/** Registers everybody. Ada shares `docs`, Dora `papers`, each with who views and with who edits, and no longer with who did. */
export async function makePeople(t: ExecutionContext, app: TestApp, home: (user: string) => Promise<void>) {
	const account = async (name: string) => new Client(app).register(name);
	const [ada, dora, bob, carl, fred, eve] = [
		await account('ada'),
		await account('dora'),
		await account('bob'),
		await account('carl'),
		await account('fred'),
		await account('eve'),
	];
	for (const name of ['ada', 'dora', 'bob', 'carl', 'fred', 'eve']) await home(name);
	for (const [owner, path] of [
		[ada, 'docs'],
		[dora, 'papers'],
	] as const) {
		const editor = { username: 'bob', role: 'edit' };
		const viewer = { username: 'carl', role: 'view' };
		for (const members of [[{ username: 'fred', role: 'edit' }], [editor, viewer]]) {
			const answer = await owner.call('PUT', '/api/members', { path, members });
			t.is(answer.statusCode, 200, answer.payload);
		}
	}

	const user = (title: string, client: Client, role: Role): Person => ({
		title,
		client,
		role,
		triesAll: client !== eve,
		share: all(404),
		send: (call) => send(app, call, { token: 'x'.repeat(43), cookies: [client.cookie ?? '', client.device ?? ''] }),
	});
	const guest = async (title: string, settings: object, share: ShareAccess, ends?: object): Promise<Person> => {
		const items = [{ path: 'docs' }];
		const created = await ada.post(createShare.path, { items, mode: 'both', ...settings });
		t.is(created.statusCode, 201, created.payload);
		const { id, url } = json(created);
		const cookies: string[] = [];
		const sendAs = (call: Call) => send(app, call, { token: String(url.split('/').at(-1)), cookies });
		const opened = await sendAs({ endpoint: openShare, payload: { password } });
		if (share.look === 'ok' || ends)
			cookies.push(...(opened.headers['set-cookie'] ?? []).map((line) => line.split(';')[0] ?? ''));
		if (ends) t.is((await ada.call('PATCH', `/api/shares/${id}`, ends)).statusCode, 200);
		if (ends && 'expiresAt' in ends)
			await until('it has ended', async () => (await sendAs({ endpoint: lookAtShare })).statusCode === 410);
		return { title, client: undefined, share, role: 'none', triesAll: false, send: sendAs };
	};

	const people: Person[] = [
		user('the owner', ada, 'own'),
		user('a member who edits', bob, 'edit'),
		user('a member who views', carl, 'view'),
		user('a former member', fred, 'none'),
		user('a stranger', eve, 'none'),
		{
			title: 'a visitor',
			client: undefined,
			role: 'none',
			triesAll: true,
			share: all(404),
			send: (call) => send(app, call, { token: 'x'.repeat(43), cookies: [] }),
		},
		await guest('who has the link', {}, all('ok')),
		await guest('who has the link of a share to look at', { mode: 'view' }, { ...all('ok'), send: 403 }),
		await guest('who has the link of a share that receives', { mode: 'upload' }, { ...all('ok'), read: 403 }),
		await guest('who has the link and the password', { password }, all('ok')),
		await guest('who has the link and no password', { password }, { ...all(401), open: 'ok' }),
		await guest('who has the link of a paused share', {}, all(404), { isPaused: true }),
		await guest('who has the link of a share that has ended', {}, all(410), { expiresAt: Date.now() + 1000 }),
		await guest('who knew the former password', { password }, all(401), { password: 'battery staple' }),
	];
	return { people, ada, dora, eve };
}

/** Undefined: there is no such item. */
export function roleOf({ client, role }: Person, which: Which): Role | undefined {
	if (which === 'own') return client === undefined ? undefined : 'own';
	return which === 'shared' ? role : 'none';
}
