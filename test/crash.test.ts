import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage, request } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { isListening } from './isListening.js';
import { isLong } from './long.js';
import { plainArgs, type ServerProcess, startServer } from './serverProcess.js';

async function dataFolder(t: ExecutionContext): Promise<string> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-crash-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

/** Rounds that end at random moments: more of them in the long form. */
const rounds = isLong ? 12 : 3;

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function upload(
	server: ServerProcess,
	cookie: string,
	name: string,
	bytes: Buffer<ArrayBuffer>,
): Promise<boolean> {
	const form = new FormData();
	form.set('file', new Blob([bytes]), name);
	try {
		return (await fetch(`${server.url}/api/upload`, { method: 'POST', body: form, headers: { cookie } })).ok;
	} catch {
		// The server was killed meanwhile: nothing was acknowledged.
		return false;
	}
}

/** Begins an upload that never ends; resolves once some of it was sent. */
async function beginEndlessUpload(server: ServerProcess, cookie: string): Promise<void> {
	const sent = request(`${server.url}/api/upload`, {
		method: 'POST',
		headers: { cookie, 'content-type': 'multipart/form-data; boundary=x', 'content-length': 10 ** 9 },
	});
	sent.on('error', () => {});
	sent.write('--x\r\nContent-Disposition: form-data; name="file"; filename="half.bin"\r\n\r\n');
	await new Promise((resolve) => sent.write(Buffer.alloc(4 * 1024 * 1024), resolve));
}

test('a server killed in the middle of an upload starts again and lists no partial file', async (t) => {
	const data = await dataFolder(t);
	const first = await startServer(t, { args: plainArgs(data) });
	const cookie = await first.register('ada');
	await beginEndlessUpload(first, cookie);
	const staging = path.join(data, 'files/.stowage/staging');
	while ((await readdir(staging)).length === 0) await wait(10);
	await first.stop('SIGKILL');
	t.deepEqual(await readdir(path.join(data, 'files/users/ada')), ['Public']);

	const second = await startServer(t, { args: plainArgs(data) });
	const listing = await fetch(`${second.url}/api/browse?type=private`, { headers: { cookie } });
	t.is(listing.status, 200, 'the session still exists');
	const { entries } = (await listing.json()) as { entries: { name: string }[] };
	t.deepEqual(
		entries.map(({ name }) => name),
		['Public'],
	);
});

/** Calls that are made to a server until it is killed. */
interface Work {
	/** Resolves when the server has ended. */
	ended: Promise<void>;
	hasBegun(): boolean;
}

/** A new user uploads one small file after the other. */
async function uploadUntilKilled(
	server: ServerProcess,
	username: string,
	acknowledged: Map<string, string>,
): Promise<Work> {
	const cookie = await server.register(username);
	const lanes = Array.from({ length: 4 }, async (_, lane) => {
		for (let n = 0; ; n++) {
			const bytes = randomBytes(20_000 + lane);
			const name = `${lane}-${n}.bin`;
			if (!(await upload(server, cookie, name, bytes))) return;
			acknowledged.set(`${username}/${name}`, digest(bytes));
		}
	});
	// At any moment after the first acknowledged file.
	const enough = acknowledged.size + 1 + Math.floor(Math.random() * 20);
	return { ended: Promise.all(lanes).then(() => {}), hasBegun: () => acknowledged.size >= enough };
}

/** A folder with files that have links is renamed to and fro. */
async function renameUntilKilled(
	server: ServerProcess,
	{ cookie, home, folder }: { cookie: string; home: string; folder: string },
	linked: Map<string, string>,
): Promise<Work> {
	const post = async (call: string, payload: object) => {
		const headers = { cookie, 'content-type': 'application/json' };
		return fetch(`${server.url}/api/${call}`, { method: 'POST', headers, body: JSON.stringify(payload) });
	};
	await mkdir(path.join(home, folder));
	for (let n = 0; n < 3; n++) {
		await writeFile(path.join(home, folder, `${n}.txt`), `${folder}.${n}`);
		const answer = await post('generateTempLink', { filePath: `${folder}/${n}.txt`, expiration: '1h' });
		linked.set(((await answer.json()) as { token: string }).token, `${folder}.${n}`);
	}
	let renames = 0;
	const renaming = (async () => {
		try {
			for (let n = 0; ; n++, renames++) {
				const [from, to] = n % 2 === 0 ? [folder, `${folder} moved`] : [`${folder} moved`, folder];
				await post('renameItem', { oldPath: from, newName: to, type: 'private' });
			}
		} catch {
			// The server was killed meanwhile.
		}
	})();
	const enough = 1 + Math.floor(Math.random() * 20);
	return { ended: renaming, hasBegun: () => renames >= enough };
}

test('sign-ups, uploads and links that were answered survive a kill of the server, also while their folder is renamed', async (t) => {
	const data = await dataFolder(t);
	const acknowledged = new Map<string, string>();
	const usernames: string[] = [];
	const linked = new Map<string, string>();
	const assertLinks = async ({ url }: ServerProcess) => {
		for (const [token, text] of linked) t.is(await (await fetch(`${url}/api/temp/${token}`)).text(), text);
	};
	let cookie = '';
	for (let round = 0; round < rounds; round++) {
		const server = await startServer(t, { args: plainArgs(data) });
		await assertLinks(server);
		cookie ||= await server.register('ada');
		const username = `ada${round}`;
		const home = path.join(data, 'files/users/ada');
		const renaming = await renameUntilKilled(server, { cookie, home, folder: `round ${round}` }, linked);
		const uploading = await uploadUntilKilled(server, username, acknowledged);
		usernames.push(username);
		while (!(uploading.hasBegun() && renaming.hasBegun())) await wait(5);
		await server.stop('SIGKILL');
		await Promise.all([uploading.ended, renaming.ended]);
	}
	for (const [name, expected] of acknowledged) {
		t.is(digest(await readFile(path.join(data, 'files/users', name))), expected, name);
	}
	for (const username of usernames) {
		for (const name of await readdir(path.join(data, 'files/users', username))) {
			if (name === 'Public') continue;
			// A file whose answer was lost may exist, but then it is whole.
			const { length } = await readFile(path.join(data, 'files/users', username, name));
			t.is(length, 20_000 + Number(name[0]), name);
		}
	}
	const server = await startServer(t, { args: plainArgs(data) });
	await assertLinks(server);
	for (const username of usernames) {
		const answer = await fetch(`${server.url}/api/login`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ username, password: 'correct horse' }),
		});
		t.is(answer.status, 200, username);
	}
});

test('a server asked to stop, even twice, finishes a running download and exits with 0', async (t) => {
	const data = await dataFolder(t);
	const server = await startServer(t, { args: plainArgs(data) });
	// More than fits into the buffers on the way.
	const size = 40 * 1024 * 1024;
	await writeFile(path.join(data, 'files/Public/large.bin'), Buffer.alloc(size));
	// Read by hand: `fetch` takes many times as long for it, and the server waits for 10 s only.
	const asked = get(`${server.url}/api/download/large.bin`);
	const [answer] = (await once(asked, 'response')) as [IncomingMessage];
	const stopped = server.stop('SIGTERM');
	// It has received the signal once it accepts no more connections.
	while (await isListening(new URL(server.url).host)) await wait(10);
	process.kill(server.pid, 'SIGTERM');
	let received = 0;
	for await (const chunk of answer as AsyncIterable<Buffer>) received += chunk.length;
	t.is(received, size);
	t.is(await stopped, 0);
});
