import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import { createApp, loadConfig } from '../../packages/core/src/index.js';
import { logLines } from '../../packages/core/test/logLines.js';
import { Client, file, json } from '../../packages/core/test/testApp.js';
import { until } from '../../packages/core/test/until.js';
import { temporaryFolder } from './uploading.js';

const program = new URL('programs/dyingMove.js', import.meta.url).pathname;
const moments = ['frozen', 'before the switch', 'during the switch', 'after the switch', 'before the end'] as const;
export type Moment = (typeof moments)[number];
export const allMoments: readonly Moment[] = moments;

/**
 * Moves a home to another root and back, and kills the server at a given moment of each move, of which most are while
 * the home is frozen. The next server continues the move: the home is complete on the target root and on no other, its
 * link works, and it can be changed.
 */
export async function killedWhileFrozen(t: ExecutionContext, chosen: readonly Moment[]): Promise<void> {
	const dataDir = await temporaryFolder(t);
	const roots = { local: path.join(dataDir, 'files'), big: path.join(dataDir, 'big') };
	const plugins = JSON.stringify({ '@stowage/auth-password': { memoryKiB: 19456, iterations: 2, parallelism: 1 } });
	const flags = { '--data-dir': dataDir, '--port': '0', '--plugins': plugins };
	const begin = async () => {
		const config = loadConfig({ flags, defaultPlugins: ['@stowage/storage-local', '@stowage/auth-password'] });
		const app = await createApp(config, { log: logLines().log, maxEventLoopDelayMs: 0 });
		await app.start();
		return app;
	};
	let app = await begin();
	t.teardown(() => app.stop());
	const first = await new Client(app).register('ada');
	await app.services.rootAdministration.add('big', 'local', roots.big);
	const expected = new Map<string, string>();
	for (let n = 0; n < 30; n++) expected.set(`folder ${n % 3}/${n}.txt`, `${n} `.repeat(n * 50));
	for (const [name, content] of expected) {
		const place = path.join(roots.local, 'users/ada', name);
		await mkdir(path.dirname(place), { recursive: true });
		await writeFile(place, content);
	}
	const linked = 'folder 1/28.txt';
	const link = json(await first.post('/api/generateTempLink', { filePath: linked, expiration: '1d' }));

	for (const [round, moment] of chosen.entries()) {
		const to = round % 2 === 0 ? 'big' : 'local';
		await app.stop();
		const dying = spawn(process.execPath, [program, JSON.stringify(flags), 'ada', to, moment], {
			stdio: 'inherit',
			env: { ...process.env, NODE_OPTIONS: '' },
		});
		const [, signal] = await once(dying, 'exit');
		t.is(signal, 'SIGKILL', moment);
		app = await begin();
		const ada = new Client(app);
		ada.cookie = first.cookie;
		const job = await until(`${moment}: the move has ended`, async () => {
			const [latest] = json(await ada.get('/api/jobs'));
			return latest.endTime === null ? undefined : latest;
		});
		t.deepEqual([job.kind, job.status, job.error], ['move-root', 'completed', null], moment);
		const changed = await ada.upload('/api/upload', [file(`${round}.txt`, moment)]);
		t.is(changed.statusCode, 200, `${moment}: the home is no longer frozen`);
		expected.set(`${round}.txt`, moment);
		const home = path.join(roots[to], 'users/ada');
		const found = await readdir(home, { recursive: true, withFileTypes: true });
		t.is(found.filter((entry) => entry.isFile()).length, expected.size, `${moment}: there are no other files`);
		for (const [name, content] of expected)
			t.is(await readFile(path.join(home, name), 'utf8'), content, `${moment}: ${name}`);
		const other = to === 'big' ? roots.local : roots.big;
		t.false((await readdir(path.join(other, 'users'))).includes('ada'), `${moment}: the home is on no other root`);
		t.deepEqual(await readdir(path.join(roots[to], 'copies')), [], `${moment}: no copy is left`);
		t.is((await ada.get(`/api/temp/${link.token}`)).payload, String(expected.get(linked)), `${moment}: the link works`);
		t.deepEqual(await app.services.database.homes.listMoves(), [], moment);
		t.deepEqual(await app.services.homeMoves.oldHomes(), [], moment);
	}
}
