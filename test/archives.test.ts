import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, truncate, utimes, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import test from 'ava';
import { fileTeardown } from './fileTeardown.js';
import { isLong } from './long.js';
import { memoryFolder } from './memoryFolder.js';
import { plainArgs, type ServerProcess, startServer } from './serverProcess.js';

const run = promisify(execFile);
const megabyte = 1024 ** 2;
const gigabyte = 1024 ** 3;
const env = { ...process.env, LC_ALL: 'C.UTF-8', PYTHONUTF8: '1' };

async function memoryOf({ pid }: ServerProcess): Promise<number> {
	return Number(/^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

function request(url: string, cookie: string): Promise<IncomingMessage> {
	return new Promise((resolve, reject) => get(url, { headers: { cookie } }, resolve).on('error', reject));
}

async function sparseFile(name: string, size: number): Promise<void> {
	await writeFile(name, '');
	await truncate(name, size);
}

/** Far more than fits into the buffers of sockets and pipes. */
const largeBytes = 64 * megabyte;
const cutAt = 8 * megabyte;

/** A folder of one large file between small ones, written long ago, so that their checksums may be cached. */
async function writeFolder(folder: string): Promise<void> {
	await mkdir(folder);
	for (let n = 0; n < 50; n++) await writeFile(path.join(folder, `a small ${n}`), randomBytes(n * 500));
	await writeFile(path.join(folder, 'large'), randomBytes(largeBytes));
	for (let n = 0; n < 50; n++) await writeFile(path.join(folder, `z small ${n}`), randomBytes(n * 3000));
	await utimes(path.join(folder, 'large'), 1_600_000_000, 1_600_000_000);
}

test.serial(
	'curl resumes an interrupted archive, also after a restart of the server in another time zone',
	async (t) => {
		const folder = await memoryFolder(t);
		const first = await startServer(t, { args: plainArgs(folder) });
		const cookie = await first.register('ada');
		await writeFolder(path.join(folder, 'files/users/ada/docs'));
		const url = (server: ServerProcess) => `${server.url}/api/download/docs?type=private`;
		const curl = (server: ServerProcess, ...args: string[]) =>
			spawn('curl', ['-sS', '-f', '-b', cookie, ...args, url(server)], { stdio: ['ignore', 'pipe', 'ignore'] });
		const interrupted = path.join(folder, 'interrupted.zip');

		const cut = curl(first);
		const file = await open(interrupted, 'w');
		let received = 0;
		for await (const chunk of cut.stdout as AsyncIterable<Buffer>) {
			await file.write(chunk);
			const before = received;
			received += chunk.length;
			// Unread bytes wait in the server, so that it can't be done.
			if (before < cutAt && received >= cutAt) await first.stop('SIGKILL');
		}
		await file.close();
		t.true(received >= cutAt && received < largeBytes, `${received} bytes had arrived`);

		const second = await startServer(t, { args: plainArgs(folder), env: { TZ: 'Pacific/Auckland' } });
		const [code] = await once(curl(second, '-o', interrupted, '-C', '-'), 'close');
		t.is(code, 0);
		const whole = path.join(folder, 'whole.zip');
		t.deepEqual((await once(curl(second, '-o', whole), 'close'))[0], 0);
		await run('cmp', [interrupted, whole]);
		await run('unzip', ['-tqq', interrupted], { env });
		await run('7z', ['t', interrupted], { env });
	},
);

const shared = fileTeardown();
let measured: Promise<{ folder: string; server: ServerProcess; atFirst: number }> | undefined;

async function measuredServer() {
	const folder = await memoryFolder(shared);
	// Retained memory is measured: with a small young generation, or most of it would be garbage that is not collected yet.
	const littleGarbage = { NODE_OPTIONS: '--max-semi-space-size=2' };
	// Without the index of names, which works in the background.
	const server = await startServer(shared, { args: plainArgs(folder, '--search-index', 'false'), env: littleGarbage });
	const cookie = await server.register('first');
	await mkdir(path.join(folder, 'files/users/first/docs'));
	const archive = await request(`${server.url}/api/download/docs?type=private`, cookie);
	await once(archive.resume(), 'end');
	return { folder, server, atFirst: await memoryOf(server) };
}

/** A user of the server whose memory is measured. All memory since its first archive counts, of all users. */
async function measuredUser(name: string) {
	measured ??= measuredServer();
	const { folder, server, atFirst } = await measured;
	const cookie = await server.register(name);
	const home = path.join(folder, 'files/users', name);
	return { server, cookie, home, memory: async () => (await memoryOf(server)) - atFirst };
}

test.serial('an archive of tens of thousands of entries takes less than 700 bytes of memory for each', async (t) => {
	const entries = isLong ? 100_000 : 50_000;
	const { server, cookie, home, memory } = await measuredUser('many');
	for (let n = 0; n < entries; n++) {
		const day = path.join(home, 'many', `day ${Math.floor(n / 500)}`);
		if (n % 500 === 0) await mkdir(day, { recursive: true });
		writeFileSync(path.join(day, `IMG_20240612_${String(n).padStart(6, '0')}.jpg`), '');
	}
	const answer = await request(`${server.url}/api/download/many?type=private`, cookie);
	let received = 0;
	for await (const chunk of answer) received += chunk.length;
	t.is(received, Number(answer.headers['content-length']));
	// What nothing refers to any more is collected by and by.
	let more = await memory();
	for (const end = performance.now() + 60_000; more >= entries * 700 && performance.now() < end; more = await memory())
		await wait(500);
	t.log(`${Math.round(more / megabyte)} MB more`);
	t.true(more < entries * 700, `${Math.round(more / megabyte)} MB more`);
});

test.serial(
	'an archive of more than 4 GiB is valid for other programs, and takes less than 40 MB of memory',
	async (t) => {
		const { server, cookie, home, memory } = await measuredUser('huge');
		await mkdir(path.join(home, 'huge'));
		const size = Math.floor((isLong ? 20 : 4.1) * gigabyte);
		await sparseFile(path.join(home, 'huge/a sparse'), size);
		await writeFile(path.join(home, 'huge/b after it'), 'lies past the first 4 GiB');

		const zip = path.join(await memoryFolder(t), 'huge.zip');
		const answer = await request(`${server.url}/api/download/huge?type=private`, cookie);
		const file = await open(zip, 'w');
		let most = 0;
		let at = 0;
		let chunks = 0;
		for await (const chunk of answer as AsyncIterable<Buffer>) {
			await writeSparsely(file, chunk, at);
			at += chunk.length;
			if (++chunks % 2000 === 0) most = Math.max(most, await memory());
		}
		await file.truncate(at);
		await file.close();
		t.is(at, Number(answer.headers['content-length']));
		t.true(most < 40 * megabyte, `${Math.round(most / megabyte)} MB more`);
		t.log(`${Math.round(most / megabyte)} MB more`);

		const script = 'import sys, zipfile; print([i.file_size for i in zipfile.ZipFile(sys.argv[1]).infolist()])';
		const [{ stdout }] = await Promise.all([
			run('python3', ['-c', script, zip], { env }),
			run('7z', ['t', zip], { env }),
			// Each further reader takes a while, and those that read from a pipe take minutes.
			...(isLong ? slowReaders : []).map((reader) => run('sh', ['-c', `cat '${zip}' | ${reader}`, 'sh', zip], { env })),
		]);
		t.is(stdout.trim(), `[0, ${size}, 25]`);
	},
);

const slowReaders = [
	'unzip -tqq "$1"',
	`python3 -c 'import sys, zipfile; sys.exit(zipfile.ZipFile(sys.argv[1]).testzip())' "$1"`,
	'java plugins/zip/test/readers/ReadZip.java > /dev/null',
	'bsdtar -xOf - > /dev/null',
];

const zeros = Buffer.alloc(4096);
const manyZeros = Buffer.alloc(megabyte);

/** Zeros become holes of the file, or the disk would be measured. */
async function writeSparsely(file: FileHandle, chunk: Buffer, position: number): Promise<void> {
	// Nearly all of the bytes, and one comparison is a fraction of the work.
	if (chunk.equals(manyZeros.subarray(0, chunk.length))) return;
	let piece: Buffer;
	for (let at = 0; at < chunk.length; at += piece.length) {
		// A page of the file, or what is left of one.
		piece = chunk.subarray(at, at + zeros.length - ((position + at) % zeros.length));
		if (!piece.equals(zeros.subarray(0, piece.length))) await file.write(piece, 0, piece.length, position + at);
	}
}

test.serial(
	'200 archives whose clients stop reading take less than 150 MB of memory, and the server stays healthy',
	async (t) => {
		const { server, cookie, home, memory } = await measuredUser('slow');
		await mkdir(path.join(home, 'docs'));
		await sparseFile(path.join(home, 'docs/large'), 10 * gigabyte);
		const readers: IncomingMessage[] = [];
		for (let n = 0; n < 200; n++) readers.push(await request(`${server.url}/api/download/docs?type=private`, cookie));
		await wait(2000);
		const grown = await memory();
		const health = await request(`${server.url}/api/health`, cookie);
		health.resume();
		await once(health, 'end');
		t.is(health.statusCode, 200);
		t.log(`${Math.round(grown / megabyte)} MB more`);
		t.true(grown < 150 * megabyte, `${Math.round(grown / megabyte)} MB more`);
		for (const reader of readers) {
			t.is(reader.statusCode, 200);
			reader.destroy();
		}
	},
);
