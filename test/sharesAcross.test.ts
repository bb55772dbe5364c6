import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { get as httpGet, type IncomingMessage } from 'node:http';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { until } from '../packages/core/test/until.js';
import { startMariadb } from '../packages/database/test/mariadb.js';
import { memoryFolder } from './memoryFolder.js';
import { plainArgs, type ServerProcess, startServer } from './serverProcess.js';

const megabyte = 1024 * 1024;

/** Two servers over one database and one folder of files, and Ada, who shares a folder. */
async function twoServers(t: ExecutionContext, databaseUrl?: string) {
	const dataDir = await memoryFolder(t);
	const database = databaseUrl === undefined ? [] : ['--database-url', databaseUrl];
	const start = () => startServer(t, { args: plainArgs(dataDir, '--search-index', 'false', ...database) });
	const servers = [await start(), await start()] as const;
	const cookie = await servers[0].register('ada');
	const docs = path.join(dataDir, 'files/users/ada/docs');
	await mkdir(docs, { recursive: true });
	await writeFile(path.join(docs, 'fox.txt'), 'The quick brown fox');
	await truncate(path.join(docs, 'big.bin'), 0).catch(() => writeFile(path.join(docs, 'big.bin'), ''));
	await truncate(path.join(docs, 'big.bin'), 64 * megabyte);
	const call = async (method: string, url: string, body?: object) => {
		const headers = { cookie, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
		const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
		return (await fetch(`${servers[0].url}${url}`, sent)).json();
	};
	const share = async (choices: object = {}) => {
		const { id, url } = await call('POST', '/api/shares', { items: [{ path: 'docs' }], mode: 'view', ...choices });
		return { id: id as string, base: `/api/share/${String(url).split('/').at(-1)}` };
	};
	return { servers, start, share, counts: (id: string) => call('GET', `/api/shares/${id}`) };
}

const cookieOf = async (server: ServerProcess, base: string): Promise<string> =>
	(await fetch(`${server.url}${base}`)).headers.getSetCookie()[0]?.split(';')[0] ?? '';

async function exactlyAsMany(t: ExecutionContext, databaseUrl?: string): Promise<void> {
	const { servers, share, counts } = await twoServers(t, databaseUrl);
	const { id, base } = await share({ maxDownloads: 5 });
	const cookies: string[] = [];
	for (let n = 0; n < 40; n++) cookies.push(await cookieOf(servers[n % 2] as ServerProcess, base));
	const answers = await Promise.all(
		// Each client asks one server, whichever has given it its cookie.
		cookies.map(async (cookie, n) => {
			const answer = await fetch(`${servers[(n >> 1) % 2]?.url}${base}/download/fox.txt`, { headers: { cookie } });
			await answer.arrayBuffer();
			return answer.status;
		}),
	);
	t.deepEqual(answers.filter((status) => status === 200).length, 5, JSON.stringify(answers));
	t.is(answers.filter((status) => status === 410).length, 35);
	await until('all are counted', async () => (await counts(id)).downloads === 5);
	t.is((await counts(id)).state, 'used');
}

test('two servers let exactly as many clients through as a share has downloads', (t) => exactlyAsMany(t));

test('two servers over MariaDB let exactly as many clients through as a share has downloads', async (t) => {
	const mariadb = await startMariadb();
	t.teardown(mariadb.close);
	await exactlyAsMany(t, await mariadb.createDatabase());
});

test('a download that one server was killed in is resumed from another one, and counts once', async (t) => {
	const { servers, share, counts } = await twoServers(t);
	const [, killed] = servers;
	const { id, base } = await share();
	const cookie = await cookieOf(killed, base);
	const read = await new Promise<number>((resolve) => {
		let bytes = 0;
		let hasSaved = false;
		httpGet(`${killed.url}${base}/download/big.bin`, { headers: { cookie } }, (response: IncomingMessage) => {
			response.on('data', ({ length }: Buffer) => {
				bytes += length;
				if (bytes < megabyte || hasSaved) return;
				hasSaved = true;
				response.pause();
				// It has written what it was sending, and sends more of it that it has not written.
				until('some of it is counted', async () => (await counts(id)).bytesSent > 0).then(() => {
					response.on('error', () => {}).once('close', () => resolve(bytes));
					response.resume();
					void killed.stop('SIGKILL');
				});
			});
		});
	});
	t.true(read >= megabyte && read < 64 * megabyte, `${read}`);
	const rest = await fetch(`${servers[0].url}${base}/download/big.bin`, {
		headers: { cookie, range: `bytes=${read}-` },
	});
	t.is((await rest.arrayBuffer()).byteLength, 64 * megabyte - read);
	await until('it is counted', async () => (await counts(id)).downloads === 1);
	t.pass();
});
