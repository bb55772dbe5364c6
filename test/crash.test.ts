import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage, request } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { isListening } from './isListening.js';
import { type ServerProcess, serveArgs, startServer } from './serverProcess.js';

async function dataFolder(t: ExecutionContext): Promise<string> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-crash-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

/** Rounds that end at moments of their own: more of them in the long form. */
const rounds = process.env.STOWAGE_FAULTS === 'long' ? 12 : 3;

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
		// The server was killed under it: nothing was promised.
		return false;
	}
}

/** Begins an upload that never ends by itself; resolves once some of it has left. */
async function beginEndlessUpload(server: ServerProcess, cookie: string): Promise<void> {
	const sent = request(`${server.url}/api/upload`, {
		method: 'POST',
		headers: { cookie, 'content-type': 'multipart/form-data; boundary=x', 'content-length': 10 ** 9 },
	});
	sent.on('error', () => {});
	sent.write('--x\r\nContent-Disposition: form-data; name="file"; filename="half.bin"\r\n\r\n');
	await new Promise((resolve) => sent.write(Buffer.alloc(4 * 1024 * 1024), resolve));
}

test('killed in the middle of an upload, the server starts again and shows no partial file', async (t) => {
	const data = await dataFolder(t);
	const first = await startServer(t, { args: serveArgs(data) });
	const cookie = await first.register('ada');
	await beginEndlessUpload(first, cookie);
	const staging = path.join(data, 'files/.stowage/staging');
	while ((await readdir(staging)).length === 0) await wait(10);
	await first.stop('SIGKILL');
	t.deepEqual(await readdir(path.join(data, 'files/users/ada')), ['Public']);

	const second = await startServer(t, { args: serveArgs(data) });
	const listing = await fetch(`${second.url}/api/browse?type=private`, { headers: { cookie } });
	t.is(listing.status, 200, 'the session lives on');
	const { entries } = (await listing.json()) as { entries: { name: string }[] };
	t.deepEqual(
		entries.map(({ name }) => name),
		['Public'],
	);
});

/** What comes on while a server runs until it is killed, and what must be there after that. */
interface Work {
	/** Resolves when the server is gone. */
	ended: Promise<void>;
	hasBegun(): boolean;
}

/** Somebody signs up and uploads one small file after the other. */
async function uploadOn(server: ServerProcess, person: string, promised: Map<string, string>): Promise<Work> {
	const cookie = await server.register(person);
	const lanes = Array.from({ length: 4 }, async (_, lane) => {
		for (let n = 0; ; n++) {
			const bytes = randomBytes(20_000 + lane);
			const name = `${lane}-${n}.bin`;
			if (!(await upload(server, cookie, name, bytes))) return;
			promised.set(`${person}/${name}`, digest(bytes));
		}
	});
	// At any moment, but not before something was answered.
	const enough = promised.size + 1 + Math.floor(Math.random() * 20);
	return { ended: Promise.all(lanes).then(() => {}), hasBegun: () => promised.size >= enough };
}

/** A folder with files that have links is renamed to and fro. */
async function renameOn(
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
			// The server was killed under it.
		}
	})();
	const enough = 1 + Math.floor(Math.random() * 20);
	return { ended: renaming, hasBegun: () => renames >= enough };
}

test('what was answered is there after a kill: sign-ups, uploads whole, and links that follow what was being renamed', async (t) => {
	const data = await dataFolder(t);
	const promised = new Map<string, string>();
	const people: string[] = [];
	const linked = new Map<string, string>();
	const assertLinks = async ({ url }: ServerProcess) => {
		for (const [token, text] of linked) t.is(await (await fetch(`${url}/api/temp/${token}`)).text(), text);
	};
	let cookie = '';
	for (let round = 0; round < rounds; round++) {
		const server = await startServer(t, { args: serveArgs(data) });
		await assertLinks(server);
		cookie ||= await server.register('ada');
		const person = `ada${round}`;
		const home = path.join(data, 'files/users/ada');
		const renaming = await renameOn(server, { cookie, home, folder: `round ${round}` }, linked);
		const uploading = await uploadOn(server, person, promised);
		people.push(person);
		while (!(uploading.hasBegun() && renaming.hasBegun())) await wait(5);
		await server.stop('SIGKILL');
		await Promise.all([uploading.ended, renaming.ended]);
	}
	for (const [name, expected] of promised) {
		t.is(digest(await readFile(path.join(data, 'files/users', name))), expected, name);
	}
	for (const person of people) {
		for (const name of await readdir(path.join(data, 'files/users', person))) {
			if (name === 'Public') continue;
			// A file may be there whose answer was lost, but then it is whole.
			const { length } = await readFile(path.join(data, 'files/users', person, name));
			t.is(length, 20_000 + Number(name[0]), name);
		}
	}
	const server = await startServer(t, { args: serveArgs(data) });
	await assertLinks(server);
	for (const username of people) {
		const answer = await fetch(`${server.url}/api/login`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ username, password: 'correct horse' }),
		});
		t.is(answer.status, 200, username);
	}
});

test('asked to stop, even twice, the server lets a running download end and leaves with 0', async (t) => {
	const data = await dataFolder(t);
	const server = await startServer(t, { args: serveArgs(data) });
	// More than fits into the buffers on the way.
	const size = 40 * 1024 * 1024;
	await writeFile(path.join(data, 'files/Public/large.bin'), Buffer.alloc(size));
	// Read by hand: `fetch` takes many times as long for it, and the server waits for 10 s only.
	const asked = get(`${server.url}/api/download/large.bin`);
	const [answer] = (await once(asked, 'response')) as [IncomingMessage];
	const stopped = server.stop('SIGTERM');
	// It has heard of it once it takes nobody in any more.
	while (await isListening(new URL(server.url).host)) await wait(10);
	process.kill(server.pid, 'SIGTERM');
	let received = 0;
	for await (const chunk of answer as AsyncIterable<Buffer>) received += chunk.length;
	t.is(received, size);
	t.is(await stopped, 0);
});
