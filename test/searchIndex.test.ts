import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { until } from '../packages/core/test/until.js';
import { plainArgs, startServer } from './serverProcess.js';

test('a server that is killed while it indexes and its users change files finds what is on the disk when it is back', async (t) => {
	const dataDir = await mkdtemp(path.join(os.tmpdir(), 'stowage-killed-'));
	t.teardown(() => rm(dataDir, { recursive: true, force: true }));
	const home = path.join(dataDir, 'files/users/ada');
	const start = (...settings: string[]) =>
		startServer(t, { args: plainArgs(dataDir, '--log-level', 'error', ...settings) });
	// Without an index as long as files come by other ways.
	let server = await start('--search-index', 'false');
	const cookie = await server.register('ada');
	const call = (address: string, body: object) =>
		fetch(`${server.url}/api/${address}`, {
			method: 'POST',
			headers: { cookie, 'content-type': 'application/json' },
			body: JSON.stringify(body),
		});
	const search = async () => {
		const answer = await fetch(`${server.url}/api/browse?type=private&search=holiday`, { headers: { cookie } });
		const { entries, indexedAt } = (await answer.json()) as { entries: { path: string }[]; indexedAt: number | null };
		return { paths: entries.map((entry) => entry.path).sort(), indexedAt };
	};
	const onDisk = async () =>
		(await readdir(home, { recursive: true })).filter((each) => path.basename(each).includes('holiday')).sort();
	await Promise.all(
		Array.from({ length: 150 }, async (_, index) => {
			await mkdir(path.join(home, `folder ${index}`), { recursive: true });
			await writeFile(path.join(home, `folder ${index}`, `holiday ${index}.txt`), '');
		}),
	);
	await server.stop();
	server = await start();
	for (let round = 0; round < 3; round++) {
		// Changes that nobody waits for, so that the server is killed in the middle of some.
		const changes = Array.from({ length: 20 }, async (_, index) => {
			const number = round * 20 + index;
			const oldPath = `folder ${number}`;
			await call('createFile', { directory: oldPath, fileName: `holiday made ${number}.txt`, type: 'private' });
			await call('renameItem', { oldPath, newName: `holidays ${number}`, type: 'private' });
		});
		await Promise.race([Promise.allSettled(changes), wait(50 + round * 150)]);
		await server.stop('SIGKILL');
		await Promise.allSettled(changes);
		server = await start();
		t.deepEqual((await search()).paths, await onDisk(), `after the end ${round}`);
	}
	await until('the index answers', async () => (await search()).indexedAt !== null);
	t.deepEqual((await search()).paths, await onDisk());
});
