import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import { type Client, cacheHashes, json, type TestApp, testApp } from '../../packages/core/test/testApp.js';
import { until } from '../../packages/core/test/until.js';
import { type Item, makeItem } from './items.js';
import { makePeople, type Person, password, type Which } from './people.js';

/** A server with everybody on it. Dora's account is disabled but while something is made for her. */
export async function setUp(t: ExecutionContext) {
	const plugins = JSON.stringify({
		'@stowage/auth-password': { memoryKiB: 19456, iterations: 2, parallelism: 1 },
		'@stowage/handbrake': { allowWithoutSandbox: true },
	});
	const app = await testApp(t, {
		'--plugins': plugins,
		'--external-viewers': 'true',
		'--public-url': 'https://files.example.org',
	});
	cacheHashes(app);
	const { people, ada, dora, eve } = await makePeople(t, app, async (user) => {
		for (const folder of ['docs', 'papers']) await mkdir(path.join(homeOf(app, user), folder), { recursive: true });
	});
	const { users } = app.services.database;
	const { id: doraId } = await app.services.accounts.find('dora');
	await users.setDisabled(doraId, true);
	const whileEnabled = async <T>(act: () => Promise<T>): Promise<T> => {
		await users.setDisabled(doraId, false);
		try {
			const { statusCode } = await dora.post('/api/login', { username: 'dora', password });
			t.is(statusCode, 200);
			const made = await act();
			await endOfJobs(dora);
			return made;
		} finally {
			await users.setDisabled(doraId, true);
		}
	};

	const ownerOf = (which: Which, { client }: Person): Client => {
		if (which === 'own') return client as Client;
		if (which === 'disabled') return dora;
		// What nobody has shared with Ada herself.
		return which === 'foreign' && client === ada ? eve : ada;
	};

	// Asked once, as an item is made for each cell.
	const names = new Map<Client, string>([[dora, 'dora']]);
	for (const { client } of people)
		if (client !== undefined) names.set(client, json(await client.get('/api/checkLoginStatus')).username);

	return {
		people,
		ada,
		/** Makes an item about which this person asks. */
		async make(which: Which, person: Person): Promise<Item> {
			const client = ownerOf(which, person);
			const name = names.get(client) ?? '';
			return makeItem(homeOf(app, name), { name, client }, which);
		},
		/** Does something as the owner of an item, who is enabled meanwhile. */
		asOwner: <T>({ which }: Item, act: () => Promise<T>) => (which === 'disabled' ? whileEnabled(act) : act()),
		/** All that is theirs and that nobody else may change, a line each. */
		async state(of: readonly Owner[]): Promise<string[]> {
			const lines = await Promise.all(
				of.map((name) => {
					if (name === 'dora') return whileEnabled(() => stateOf(app, dora, name));
					return stateOf(app, name === 'ada' ? ada : eve, name);
				}),
			);
			return [...lines.flat(), ...(await membersOf(app))];
		},
	};
}

const homeOf = ({ filesDir }: TestApp, user: string) => path.join(filesDir, 'users', user);

export type Owner = 'ada' | 'dora' | 'eve';

export type Site = Awaited<ReturnType<typeof setUp>>;

async function membersOf({ services }: TestApp): Promise<string[]> {
	const folders = await services.members.folders();
	return folders.map(
		({ path: at, members }) => `members of ${at}: ${members.map(({ user, role }) => `${user.username} ${role}`)}`,
	);
}

async function endOfJobs(client: Client): Promise<{ id: string; status: string }[]> {
	return until('the jobs end', async () => {
		const jobs: { id: string; status: string }[] = json(await client.get('/api/jobs'));
		return jobs.every(({ status }) => !['queued', 'processing'].includes(status)) && jobs;
	}) as Promise<{ id: string; status: string }[]>;
}

/**
 * All that is somebody's and that nobody else may change, a line each: files with their contents, trash, links, shares,
 * jobs, sessions and settings. What guests have looked at and sent is counted in the shares, and left out.
 */
async function stateOf(app: TestApp, client: Client, name: Owner): Promise<string[]> {
	const home = homeOf(app, name);
	const jobs = await endOfJobs(client);
	const entries = await readdir(home, { recursive: true, withFileTypes: true });
	const files = await Promise.all(
		entries.map(async (entry) => {
			const at = path.join(entry.parentPath, entry.name);
			return [path.relative(home, at), entry.isFile() ? await readFile(at, 'latin1') : null];
		}),
	);
	const ask = async (url: string) => json(await client.get(url));
	const { entries: trash } = await ask('/api/trash');
	const { id: ownerId } = await app.services.accounts.find(name);
	const versions = await app.services.database.trash.list({ ownerId, kind: 'version', order: 'newest', limit: 1000 });
	const { shares } = (await ask('/api/shares')) as { shares: Record<string, unknown>[] };
	const parts: Record<string, readonly unknown[]> = {
		file: files,
		trash,
		version: versions.map(({ id, path: at }) => ({ id, at })),
		link: await ask('/api/links'),
		share: shares.map(({ id, isPaused, hasPassword, title, items }) => ({ id, isPaused, hasPassword, title, items })),
		// A refused one is the caller's own.
		job: jobs.filter(({ status }) => status !== 'failed').map(({ id, status }) => ({ id, status })),
		// Hers end each time.
		session: name === 'dora' ? [] : (await ask('/api/sessions')).map(({ id }: { id: string }) => id),
		totp: [await ask('/api/totp')],
		settings: [(await ask('/api/checkLoginStatus')).settings],
	};
	return Object.entries(parts).flatMap(([what, each]) =>
		each.map((one) => `${what} of ${name}: ${JSON.stringify(one)}`).sort(),
	);
}
